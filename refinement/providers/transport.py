"""One HTTP transport for all endpoints: pooled, shared between threads, and stoppable in every wait."""

import os
import ssl
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache

import httpcore
import httpx

from refinement.providers.network import SlicedBackend, last_stream

KEPT_CONNECTIONS = 200
KEPT_SECONDS = 30.0
CONNECT_SECONDS = 10.0
# A read may wait as long as the call's deadline allows: a model that loads says nothing for minutes.
TIMEOUT = httpx.Timeout(None, connect=CONNECT_SECONDS)


@cache
def _ssl_context() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=True)


class Lane(httpx.HTTPTransport):
    """httpx's transport for one request at a time, on sockets that look in on the call's watch."""

    def __init__(self) -> None:
        super().__init__(verify=_ssl_context())
        self._pool = httpcore.ConnectionPool(
            ssl_context=_ssl_context(),
            max_connections=1,
            keepalive_expiry=KEPT_SECONDS,
            network_backend=SlicedBackend(),
        )


class LaneStream(httpx.SyncByteStream):
    """A reply's bytes; closing it gives the lane back."""

    def __init__(self, inner: httpx.SyncByteStream, give_back: Callable[[], None]) -> None:
        self._inner = inner
        self._give_back: Callable[[], None] | None = give_back

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._inner)

    def close(self) -> None:
        try:
            self._inner.close()
        finally:
            give_back, self._give_back = self._give_back, None
            if give_back is not None:
                give_back()


class PooledTransport(httpx.BaseTransport):
    """As many lanes as there are requests under way; idle ones are kept for whichever thread comes next.

    One pool for all of them would look at every connection for every request, and again for each of those.
    """

    def __init__(self) -> None:
        self._idle: deque[Lane] = deque(maxlen=KEPT_CONNECTIONS)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        try:
            lane = self._idle.pop()
        except IndexError:
            lane = Lane()
        try:
            response = lane.handle_request(request)
        except (httpx.NetworkError, httpx.RemoteProtocolError):
            lane.close()
            if not _died_while_kept():
                raise
            lane = Lane()  # a new lane has a new connection
            response = lane.handle_request(request)
        assert isinstance(response.stream, httpx.SyncByteStream)
        response.stream = LaneStream(response.stream, lambda: self._idle.append(lane))
        return response

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()


def _died_while_kept() -> bool:
    """Whether the failed request went to a connection that had served before and now said nothing."""
    stream = last_stream()
    return stream is not None and stream.was_kept and not stream.answered


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
