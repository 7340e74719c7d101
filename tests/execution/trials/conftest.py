"""Fixtures for benches that use a loopback server in place of Ollama."""

import pytest

from refinement.models import Project
from tests.execution.trials.given import Table
from tests.loopback.fixtures import ollama_server
from tests.loopback.server import LoopbackServer

__all__ = ["ollama_server"]


@pytest.fixture
def table(project: Project, ollama_server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> Table:
    """A project with a rubric, and a model server as its judge."""
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    return Table(ollama_server, project)
