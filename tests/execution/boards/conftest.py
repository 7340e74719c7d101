"""Fixtures for runs that use a loopback server in place of Ollama. Tests carry out the worker's steps."""

import pytest

from refinement.models import Project
from tests.execution.lifecycle.given import Scene
from tests.loopback.fixtures import ollama_server
from tests.loopback.server import LoopbackServer

__all__ = ["ollama_server"]


@pytest.fixture
def scene(project: Project, ollama_server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A project and a model server, with helpers that move runs through their states."""
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    return Scene(ollama_server, project)
