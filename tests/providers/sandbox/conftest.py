"""Tests of the sandbox need bubblewrap, as the product does."""

import sys

import pytest

from refinement.providers.sandbox.bubblewrap import sandbox_problem


@pytest.fixture(autouse=True, scope="session")
def _sandbox():
    if sys.platform != "linux":
        pytest.skip("the sandbox is Linux's")
    if problem := sandbox_problem():
        pytest.skip(problem)
