"""A wire to a server that can be cut: the server stays up, and whoever uses the wire finds it gone."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any
from urllib.parse import urlsplit, urlunsplit

PORTS = {"postgres": 5432, "redis": 6379, "amqp": 5672}
CHUNK = 65_536


class Wire:
    """Forwards a loopback port of its own, from a thread of its own."""

    def __init__(self, url: str) -> None:
        self.parts = urlsplit(url)
        self.target = (self.parts.hostname or "127.0.0.1", self.parts.port or PORTS[self.parts.scheme])
        self.port = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._listening: asyncio.Server | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="wire", daemon=True)

    def __enter__(self) -> "Wire":
        self._thread.start()
        self.mend()
        return self

    def __exit__(self, *_: object) -> None:
        self.unplug()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    @property
    def url(self) -> str:
        """The server's address by way of this wire."""
        user, at, _ = self.parts.netloc.rpartition("@")
        return urlunsplit(self.parts._replace(netloc=f"{user}{at}127.0.0.1:{self.port}"))

    def cut(self) -> None:
        """Resets every connection; new ones are welcome."""
        self._in_loop(self._cut())

    def unplug(self) -> None:
        """Resets every connection and refuses new ones, as a server that restarts does."""
        self._in_loop(self._unplug())

    def mend(self) -> None:
        self._in_loop(self._listen())

    async def _listen(self) -> None:
        if self._listening is None:
            self._listening = await asyncio.start_server(self._forward, "127.0.0.1", self.port)
            self.port = self._listening.sockets[0].getsockname()[1]

    async def _unplug(self) -> None:
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        await self._cut()

    async def _cut(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()
        await asyncio.sleep(0)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(*self.target)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, far_writer}
        self._writers |= ends
        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))
        self._writers -= ends

    def _in_loop(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until one end is gone; then the other one goes as well."""
    try:
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()
