"""Sends one message to the address that was checked, within a total timeout."""

import ssl
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpcore
import httpx

from refinement.webhooks.addresses import AddressRefused, look_up, refuse_inner
from refinement.webhooks.networks import Network

CONNECT_SECONDS = 5.0
WHOLE_SECONDS = 10.0  # from the DNS lookup to the last byte read
ANSWER_BYTES = 1_024  # of the response body; the rest is not read
WHERE_CHARS = 200
ERROR_CHARS = 300


@dataclass(frozen=True, slots=True)
class Attempted:
    """The result of an attempt: a status code, or an error."""

    status: int | None
    error: str
    answer: str
    milliseconds: int

    @property
    def delivered(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class Limits:
    """Timeouts in seconds."""

    connect: float = CONNECT_SECONDS
    whole: float = WHOLE_SECONDS


def post(
    address: str,
    *,
    headers: Mapping[str, str],
    body: bytes,
    allowed: Iterable[Network],
    limits: Limits = Limits(),  # noqa: B008  frozen
) -> Attempted:
    """Sends the body without redirects or proxies, and reads only the start of the response."""
    began = time.monotonic()
    status, error, answer = None, "", b""
    try:
        status, where, answer = _exchange(address, headers, body, tuple(allowed), limits)
        error = _answer_problem(status, where)
    except AddressRefused as refused:
        error = str(refused)
    except httpcore.TimeoutException:
        error = f"Timed out after {limits.whole:g} seconds, or {limits.connect:g} seconds to connect."
    except httpcore.ProtocolError as failed:
        error = f"Not a valid HTTP response: {failed}"
    except (httpcore.NetworkError, httpx.InvalidURL) as failed:
        error = f"Connection failed: {failed}"
    spent = round((time.monotonic() - began) * 1000)
    return Attempted(status, error[:ERROR_CHARS], answer.decode(errors="replace"), spent)


def _exchange(
    address: str, headers: Mapping[str, str], body: bytes, allowed: tuple[Network, ...], limits: Limits
) -> tuple[int, str, bytes]:
    """The response's status, its redirect target and the start of its body."""
    url = httpx.URL(address)
    target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
    lines = [("Host", url.netloc.decode()), *headers.items()]
    backend = CheckedBackend(allowed, time.monotonic() + limits.whole)
    waits = {"connect": limits.connect, "read": limits.whole, "write": limits.whole, "pool": limits.whole}
    with (
        httpcore.ConnectionPool(
            ssl_context=_ssl_context(), max_connections=1, network_backend=backend
        ) as pool,
        pool.stream("POST", target, headers=lines, content=body, extensions={"timeout": waits}) as response,
    ):
        return response.status, _redirect(response), _beginning(response)


def _redirect(response: httpcore.Response) -> str:
    """The target of a redirect; empty if the response is not a redirect."""
    if response.status // 100 != 3:
        return ""
    places = [value for name, value in response.headers if name.lower() == b"location"]
    return places[0].decode(errors="replace")[:WHERE_CHARS] if places else ""


def _beginning(response: httpcore.Response) -> bytes:
    """The start of the body. The connection is closed without reading the rest."""
    read = b""
    for piece in response.iter_stream():
        read += piece
        if len(read) >= ANSWER_BYTES:
            break
    return read[:ANSWER_BYTES]


def _answer_problem(status: int, where: str) -> str:
    if 200 <= status < 300:
        return ""
    if where:
        return f"Status {status}: redirect to {where}. Redirects are not followed; use that URL instead."
    return f"Status {status}. Only 200 to 299 counts as delivered."


@cache
def _ssl_context() -> ssl.SSLContext:
    return httpx.create_ssl_context()


class CheckedBackend(httpcore.NetworkBackend):
    """Resolves a host once and connects to the checked address, which prevents DNS rebinding."""

    def __init__(self, allowed: tuple[Network, ...], until: float) -> None:
        self._allowed = allowed
        self._until = until
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        until = min(self._until, time.monotonic() + (timeout or CONNECT_SECONDS))
        numbers = look_up(host, port, _left(until, httpcore.ConnectTimeout))
        refuse_inner(host, numbers, self._allowed)
        problem: Exception = httpcore.ConnectError(f"{host} has no address.")
        for number in numbers:
            try:
                left = _left(until, httpcore.ConnectTimeout)
                return TimedStream(self._sockets.connect_tcp(number, port, left), self._until)
            except httpcore.ConnectError as error:
                problem = error
        raise problem


class TimedStream(httpcore.NetworkStream):
    """A connection with a total timeout, so that a server cannot delay by sending byte by byte."""

    def __init__(self, inner: httpcore.NetworkStream, until: float) -> None:
        self._inner = inner
        self._until = until

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _left(self._until, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _left(self._until, httpcore.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left = _left(self._until, httpcore.ConnectTimeout)
        return TimedStream(self._inner.start_tls(ssl_context, server_hostname, left), self._until)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _left(until: float, too_late: type[Exception]) -> float:
    """The seconds left. Raises `too_late` if there are none."""
    left = until - time.monotonic()
    if left <= 0:
        raise too_late("Timed out.")
    return left
