"""One HTTP transport for all endpoints: pooled, shared between threads, and stoppable in every wait."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from refinement.providers.lanes import Lane

KEPT_CONNECTIONS = 200
CONNECT_SECONDS = 10.0
# A read may wait as long as the call's deadline allows: a model that loads says nothing for minutes.
TIMEOUT = httpx.Timeout(None, connect=CONNECT_SECONDS)
WAITS = TIMEOUT.as_dict()


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


class DirectClient(httpx.Client):
    """Streams straight from the shared transport.

    httpx's own way of sending is made for the web at large: cookies, redirects, proxies, rounds of
    authentication. A model server has none of these, and a redirect is not followed, lest a key travel.
    """

    def __init__(
        self,
        base_url: str,
        *,
        authorize: Callable[[httpx.Request], httpx.Request] | None = None,
        **options: Any,
    ) -> None:
        self._direct = transport_for(base_url)
        self._authorize = authorize
        self._addresses: dict[str, httpx.URL] = {}
        options["follow_redirects"] = False
        super().__init__(
            base_url=base_url,
            transport=self._direct,
            timeout=TIMEOUT,
            trust_env=False,
            auth=authorize,
            **options,
        )

    @contextmanager
    def stream(  # type: ignore[override]
        self, method: str, url: str, *, json: Any, headers: Mapping[str, str] | None = None
    ) -> Iterator[httpx.Response]:
        """An answer to a JSON body, to be read as it comes."""
        address = self._addresses.get(url)
        if address is None:
            address = self._addresses[url] = self.build_request(method, url).url
        heads: list[tuple[Any, Any]] = [*self.headers.raw, *(headers or {}).items()]
        request = httpx.Request(
            method,
            address,
            headers=heads,
            json=json,
            extensions={"timeout": WAITS},
        )
        if self._authorize is not None:
            request = self._authorize(request)
        response = self._direct.handle_request(request)
        response.request = request
        response.encoding = "utf-8"  # as JSON always is; httpx would look for it in the head
        try:
            yield response
        finally:
            response.close()


def client_for(address: str) -> DirectClient:
    """A client on the transport that this process shares for the server at this address."""
    return DirectClient(address)


def _forget_connections() -> None:
    """A forked process must not speak on its parent's sockets."""
    global _making
    _transports.clear()
    _making = threading.Lock()


os.register_at_fork(after_in_child=_forget_connections)
