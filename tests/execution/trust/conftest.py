"""Fixtures for judges that use a loopback server in place of Ollama."""

from tests.execution.trials.conftest import ollama_server, table

__all__ = ["ollama_server", "table"]
