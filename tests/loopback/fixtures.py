"""Fixtures for tests that talk to a model server."""

from collections.abc import Iterator

import pytest

from tests.loopback.server import LoopbackServer


@pytest.fixture
def ollama_server() -> Iterator[LoopbackServer]:
    """A loopback server that answers at once; set its replies, latency and faults as needed."""
    with LoopbackServer() as server:
        yield server
