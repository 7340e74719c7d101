"""Fixtures for pages of measurements that use a loopback server in place of Ollama."""

import pytest

from refinement.selectors.launch.available_models import offers
from tests.execution.trials.conftest import ollama_server, table

__all__ = ["ollama_server", "table"]


@pytest.fixture(autouse=True)
def _nothing_remembered():
    offers.forget()
    yield
    offers.forget()
