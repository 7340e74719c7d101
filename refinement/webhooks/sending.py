"""One message to one server: to the very address that was checked, within a limit for everything."""

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
WHOLE_SECONDS = 10.0  # from the first look at the name to the last byte that is read
ANSWER_BYTES = 1_024  # of an answer's body; the rest is never read
WHERE_CHARS = 200
ERROR_CHARS = 300


@dataclass(frozen=True, slots=True)
class Attempted:
    """What came of it: a status, or the reason why there is none."""

    status: int | None
    error: str
    answer: str
    milliseconds: int

    @property
    def delivered(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a message may take."""

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
    """Sends the body. No redirect is followed, no proxy asked, and only the answer's beginning is read."""
    began = time.monotonic()
    status, error, answer = None, "", b""
    try:
        status, where, answer = _exchange(address, headers, body, tuple(allowed), limits)
        error = _answer_problem(status, where)
    except AddressRefused as refused:
        error = str(refused)
    except httpcore.TimeoutException:
        error = f"It took longer than {limits.whole:g} seconds, or than {limits.connect:g} to connect."
    except httpcore.ProtocolError as failed:
        error = f"It does not answer in HTTP: {failed}"
    except (httpcore.NetworkError, httpx.InvalidURL) as failed:
        error = f"It could not be reached: {failed}"
    spent = round((time.monotonic() - began) * 1000)
    return Attempted(status, error[:ERROR_CHARS], answer.decode(errors="replace"), spent)


def _exchange(
    address: str, headers: Mapping[str, str], body: bytes, allowed: tuple[Network, ...], limits: Limits
) -> tuple[int, str, bytes]:
    """The answer's status, where a redirect would lead, and the beginning of its body."""
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
    """Where a redirect leads; empty if the answer is none."""
    if response.status // 100 != 3:
        return ""
    places = [value for name, value in response.headers if name.lower() == b"location"]
    return places[0].decode(errors="replace")[:WHERE_CHARS] if places else ""


def _beginning(response: httpcore.Response) -> bytes:
    """As much as is kept; leaving the rest unread ends the connection."""
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
        return f"It answered {status} and points to {where}. Redirects are not followed: set that address."
    return f"It answered {status}; only 200 to 299 counts as received."


@cache
def _ssl_context() -> ssl.SSLContext:
    return httpx.create_ssl_context()


class CheckedBackend(httpcore.NetworkBackend):
    """Looks a name up once and connects to what it checked: a name that changes its mind gains nothing."""

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
    """A connection with one end for all its waits: a server that sends byte by byte gains nothing either."""

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
    """The seconds that are left; raises where there are none."""
    left = until - time.monotonic()
    if left <= 0:
        raise too_late("The time is up.")
    return left
