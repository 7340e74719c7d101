"""One HTTP transport for all endpoints: pooled, shared between threads, and stoppable in every wait."""

import os
import threading
from collections import deque
from collections.abc import Iterable

import httpx

from refinement.providers.lanes import Lane

KEPT_CONNECTIONS = 200
CONNECT_SECONDS = 10.0
# A read may wait as long as the call's deadline allows: a model that loads says nothing for minutes.
TIMEOUT = httpx.Timeout(None, connect=CONNECT_SECONDS)


class PooledTransport(httpx.BaseTransport):
    """As many lanes as there are requests under way; idle ones are kept for whichever thread comes next."""

    def __init__(self) -> None:
        self._idle: deque[Lane] = deque(maxlen=KEPT_CONNECTIONS)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        try:
            lane = self._idle.pop()
        except IndexError:
            lane = Lane()
        try:
            return self._ask(lane, request)
        except (httpx.NetworkError, httpx.RemoteProtocolError):
            if not lane.failed_while_kept():
                raise
            return self._ask(Lane(), request)  # a new lane has a new connection

    def _ask(self, lane: Lane, request: httpx.Request) -> httpx.Response:
        return lane.ask(request, lambda: self._idle.append(lane))

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()


_transports: dict[str, PooledTransport] = {}
_making = threading.Lock()


def transport_for(address: str) -> httpx.BaseTransport:
    """The one transport of this process for the server at this address."""
    url = httpx.URL(address)
    origin = f"{url.scheme}://{url.netloc.decode('ascii')}"
    with _making:
        if origin not in _transports:
            _transports[origin] = PooledTransport()
        return _transports[origin]


def client_for(address: str, headers: Iterable[tuple[str, str]] = ()) -> httpx.Client:
    """A client on the shared transport; it follows no redirect, lest a key travel to another place."""
    return httpx.Client(
        base_url=address,
        transport=transport_for(address),
        timeout=TIMEOUT,
        headers=dict(headers),
        trust_env=False,
    )


def _forget_connections() -> None:
    """A forked process must not speak on its parent's sockets."""
    global _making
    _transports.clear()
    _making = threading.Lock()


os.register_at_fork(after_in_child=_forget_connections)
