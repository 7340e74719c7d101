"""The loopback server for every test here, and shorthands for requests."""

from tests.loopback.fixtures import ollama_server

__all__ = ["ollama_server"]
