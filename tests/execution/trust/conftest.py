"""Judges meet a loopback server at the address where Ollama is looked for."""

from tests.execution.trials.conftest import ollama_server, table

__all__ = ["ollama_server", "table"]
