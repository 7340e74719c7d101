"""Tests of the sandbox need bubblewrap, as the product does, and a Python that every account may start."""

import pytest

from tests.providers.sandbox.surroundings import interpreter
from tests.sandboxed import needs_sandbox


@pytest.fixture(autouse=True, scope="session")
def _sandbox():
    needs_sandbox()
    if interpreter() is None:
        pytest.skip("there is no python3 in /usr/bin or /usr/local/bin")
