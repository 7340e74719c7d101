"""Imports meet runs that a loopback model server carried through."""

from tests.views.runs.staged import ollama_server, stage

__all__ = ["ollama_server", "stage"]
