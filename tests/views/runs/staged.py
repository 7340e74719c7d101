"""The stage for pages: runs that are really carried through, on the loopback server."""

from tests.loopback.fixtures import ollama_server
from tests.runs.conftest import stage

__all__ = ["ollama_server", "stage"]
