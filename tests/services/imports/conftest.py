"""Fixtures for imports of runs that a loopback model server carried out."""

from tests.views.runs.staged import ollama_server, stage

__all__ = ["ollama_server", "stage"]
