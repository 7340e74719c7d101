"""The stage for pages: runs that are carried out on the loopback server."""

from tests.execution.wire.conftest import stage
from tests.loopback.fixtures import ollama_server

__all__ = ["ollama_server", "stage"]
