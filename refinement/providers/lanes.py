"""One connection to a server and the answers that come on it: HTTP/1.1, read by httptools.

httpx's own transport reads answers in Python; for each call of a model that was a fifth of all that a worker
did. Here the parser is in C, a request is sent in one piece, and a reply's pieces that came together are
passed on together.
"""

import re
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import httpcore
import httptools
import httpx

from refinement.providers.network import SlicedBackend, SlicedStream

KEPT_SECONDS = 30.0
READ_BYTES = 65_536
MOST_HEAD_BYTES = 262_144  # of an answer's head: a server that never ends it is no model server
HEAD_ENDER = re.compile(rb"[\r\n\0]")
PORTS = {"http": 80, "https": 443}
# What the sockets raise, in the words of httpx.
FAILURES: tuple[tuple[type[Exception], type[httpx.TransportError]], ...] = (
    (httpcore.ConnectTimeout, httpx.ConnectTimeout),
    (httpcore.ReadTimeout, httpx.ReadTimeout),
    (httpcore.WriteTimeout, httpx.WriteTimeout),
    (httpcore.ConnectError, httpx.ConnectError),
    (httpcore.ReadError, httpx.ReadError),
    (httpcore.WriteError, httpx.WriteError),
    (httptools.HttpParserUpgrade, httpx.RemoteProtocolError),
    (httptools.HttpParserError, httpx.RemoteProtocolError),
)
SORTED = tuple(ours for ours, _ in FAILURES)


@contextmanager
def _as_httpx() -> Iterator[None]:
    try:
        yield
    except SORTED as error:
        theirs = next(theirs for ours, theirs in FAILURES if isinstance(error, ours))
        raise theirs(str(error)) from error


@cache
def ssl_context() -> ssl.SSLContext:
    """How servers prove who they are, read once for a process."""
    context = httpx.create_ssl_context(trust_env=True)
    context.set_alpn_protocols(["http/1.1"])
    return context


class Answer:
    """What httptools has found so far; its methods are the parser's callbacks."""

    def __init__(self) -> None:
        self.parser = httptools.HttpResponseParser(self)
        # Servers made at home are sloppy, and no one else's answers share the connection.
        self.parser.set_dangerous_leniencies(
            lenient_chunked_length=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.pieces: list[bytes] = []
        self.head_bytes = 0
        self.has_head = self.is_whole = self.is_last = False
        self.ends_with_connection = True  # unless its head says how long it is

    def on_message_begin(self) -> None:
        self.is_last = self.is_last or self.is_whole  # nothing was asked for that could be answered

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() in (b"content-length", b"transfer-encoding"):
            self.ends_with_connection = False
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self.is_whole:
            return
        self.status = self.parser.get_status_code()
        if self.status >= 200:
            self.has_head = True
        else:
            self.headers, self.ends_with_connection = [], True  # a greeting: the answer is yet to come

    def on_body(self, piece: bytes) -> None:
        if not self.is_whole:
            self.pieces.append(piece)

    def on_message_complete(self) -> None:
        if self.has_head and not self.is_whole:
            self.is_whole = True
            self.is_last = not self.parser.should_keep_alive()  # it knows only now

    def feed(self, data: bytes) -> None:
        """Takes what came from the connection; nothing says that it was closed."""
        if not data:
            self._close()
            return
        if not self.has_head:
            self.head_bytes += len(data)
            if self.head_bytes > MOST_HEAD_BYTES:
                raise httpx.RemoteProtocolError("The head of the server's answer does not end.")
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserError:
            if not self.is_whole:
                raise
            self.is_last = True  # what follows a whole answer concerns nobody, but the connection is spoiled

    def _close(self) -> None:
        if not self.has_head:
            raise httpx.RemoteProtocolError("Server disconnected without sending a response.")
        if not self.ends_with_connection:
            raise httpx.RemoteProtocolError("The server closed the connection in the middle of its answer.")
        self.is_whole = self.is_last = True

    def keeps_connection(self) -> bool:
        """Whether another request may follow on the same connection."""
        return self.is_whole and not self.is_last


class Lane:
    """A connection for one request at a time; opened when there is none, or the one there was has gone."""

    def __init__(self) -> None:
        self._stream: SlicedStream | None = None
        self._used_at = 0.0

    def ask(self, request: httpx.Request, give_back: Callable[[], None]) -> httpx.Response:
        """Sends the request and reads its answer's head; calls `give_back` when the lane is free again."""
        waits = request.extensions.get("timeout", {})
        message = written(request)
        try:
            with _as_httpx():
                stream = self._open(request.url, waits.get("connect"))
                stream.write(message, waits.get("write"))
                answer = Answer()
                while not answer.has_head:
                    answer.feed(stream.read(READ_BYTES, waits.get("read")))
        except BaseException:
            self.close()
            raise
        body = AnswerStream(self, stream, answer, waits.get("read"), give_back)
        return httpx.Response(
            answer.status, headers=answer.headers, stream=body, extensions={"http_version": b"HTTP/1.1"}
        )

    def failed_while_kept(self) -> bool:
        """Whether the last request went to a connection that had served before and now said nothing."""
        return self._stream is not None and self._stream.was_kept and not self._stream.answered

    def _open(self, url: httpx.URL, timeout: float | None) -> SlicedStream:
        if self._stream is not None and self._is_fit(self._stream):
            return self._stream
        self.close()
        port = url.port or PORTS[url.scheme]
        stream = SlicedBackend().connect_tcp(url.host, port, timeout)
        if url.scheme == "https":
            stream = stream.start_tls(ssl_context(), url.host, timeout)
        self._stream = stream
        return stream

    def _is_fit(self, stream: SlicedStream) -> bool:
        if stream.is_closed or time.monotonic() - self._used_at > KEPT_SECONDS:
            return False
        return not stream.get_extra_info("is_readable")

    def rest(self) -> None:
        """Free for the next request."""
        self._used_at = time.monotonic()

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()


class AnswerStream(httpx.SyncByteStream):
    """An answer's body as it comes; closing it before its end closes the connection, and the server stops."""

    def __init__(
        self,
        lane: Lane,
        stream: SlicedStream,
        answer: Answer,
        timeout: float | None,
        give_back: Callable[[], None],
    ) -> None:
        self._lane = lane
        self._stream = stream
        self._answer = answer
        self._timeout = timeout
        self._give_back: Callable[[], None] | None = give_back

    def __iter__(self) -> Iterator[bytes]:
        answer = self._answer
        while True:
            if answer.pieces:
                pieces, answer.pieces = answer.pieces, []
                yield b"".join(pieces)
            if answer.is_whole:
                return
            with _as_httpx():
                answer.feed(self._stream.read(READ_BYTES, self._timeout))

    def close(self) -> None:
        give_back, self._give_back = self._give_back, None
        if give_back is None:
            return
        if self._answer.keeps_connection():
            self._lane.rest()
        else:
            self._lane.close()
        give_back()


def written(request: httpx.Request) -> bytes:
    """The whole request as it goes over the wire."""
    if request.method not in ("GET", "POST"):
        raise httpx.UnsupportedProtocol(f"Model servers are asked by GET and POST, not {request.method}.")
    lines = [b"%s %s HTTP/1.1" % (request.method.encode(), request.url.raw_path)]
    for name, value in request.headers.raw:
        if HEAD_ENDER.search(value):
            raise httpx.LocalProtocolError(
                f"The header {name.decode(errors='replace')} has a line end in it."
            )
        lines.append(b"%s: %s" % (name, value))
    return b"\r\n".join([*lines, b"", request.read()])
