"""A minimal HTTP/1.1 server on asyncio: fast, and it notices immediately when a client disconnects."""

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

HEADER_END = b"\r\n\r\n"


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> dict[str, Any]:
        parsed = json.loads(self.body) if self.body else {}
        return parsed if isinstance(parsed, dict) else {"body": parsed}


class Connection(asyncio.Protocol):
    """One client's connection, kept alive between requests."""

    def __init__(
        self, all_of_them: "set[Connection]", handle: Callable[[Request, "Connection"], Awaitable[None]]
    ) -> None:
        self._all = all_of_them
        self._handle = handle
        self._received = bytearray()
        self._working: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport | None = None

    # --- called by asyncio ----------------------------------------------------------------------
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._all.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._all.discard(self)
        if self._working is not None:
            self._working.cancel()

    def data_received(self, data: bytes) -> None:
        self._received += data
        self._next()

    def _next(self) -> None:
        if self._working is not None:
            return
        request = self._take()
        if request is not None:
            self._working = asyncio.get_running_loop().create_task(self._work(request))

    async def _work(self, request: Request) -> None:
        await self._handle(request, self)
        self._working = None
        self._next()

    def _take(self) -> Request | None:
        head_end = self._received.find(HEADER_END)
        if head_end < 0:
            return None
        lines = self._received[:head_end].decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines[1:])
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        end = head_end + len(HEADER_END) + int(headers.get("content-length", 0))
        if len(self._received) < end:
            return None
        body = bytes(self._received[head_end + len(HEADER_END) : end])
        del self._received[:end]
        method, path, _ = lines[0].split(" ", 2)
        return Request(method, path.partition("?")[0], headers, body)

    # --- called by the server -------------------------------------------------------------------
    def _write(self, data: bytes) -> None:
        assert self._transport is not None
        self._transport.write(data)

    def respond(
        self,
        status: int,
        body: bytes,
        kind: str = "application/json",
        extra: Mapping[str, str] | None = None,
    ) -> None:
        headers = {"Content-Type": kind, "Content-Length": str(len(body)), **(extra or {})}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._write(f"HTTP/1.1 {status} -\r\n{head}\r\n".encode("latin-1") + body)

    def start_stream(self, kind: str) -> None:
        self._write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())

    def chunk(self, data: bytes) -> None:
        self._write(b"%x\r\n%s\r\n" % (len(data), data))

    def chunks(self, parts: Iterable[bytes]) -> None:
        """Sends several chunks in one write, and so in one packet."""
        self._write(b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts))

    def end_stream(self) -> None:
        self._write(b"0\r\n\r\n")

    def abort(self) -> None:
        """Resets the connection without sending what is left."""
        assert self._transport is not None
        sock = self._transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if asyncio.current_task() is self._working:
            self._working = None  # the response ends here on purpose and must not be cancelled
        self._transport.abort()
