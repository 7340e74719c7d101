"""Fixtures for runs that use a loopback server in place of Ollama."""

import pytest

from refinement.execution import foreground
from refinement.models import Project
from tests.execution.wire.stage import Stage, no_wait
from tests.loopback.fixtures import ollama_server
from tests.loopback.server import LoopbackServer

__all__ = ["ollama_server"]


@pytest.fixture
def stage(project: Project, ollama_server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """The project's runs on the server, without waiting before retries."""
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    monkeypatch.setattr(foreground, "wait_until", no_wait)
    return Stage(ollama_server, project)
