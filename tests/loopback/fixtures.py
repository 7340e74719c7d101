"""Fixtures for tests that talk to a model server."""

from collections.abc import Iterator

import pytest

from refinement.providers import registry
from tests.loopback.server import LoopbackServer


@pytest.fixture
def ollama_server() -> Iterator[LoopbackServer]:
    """A loopback server that responds immediately; set its replies, latency and faults as needed."""
    with LoopbackServer() as server:
        forget_earlier_server(server.address)
        yield server


def forget_earlier_server(address: str) -> None:
    """Clears what providers cached about an earlier test's server, because ports are reused."""
    for identity in [identity for identity in registry._built if any(address in part for part in identity)]:
        del registry._built[identity]
