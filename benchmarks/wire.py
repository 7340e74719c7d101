"""A TCP proxy that can reset connections or stop, while the server behind it stays up."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any
from urllib.parse import urlsplit, urlunsplit

PORTS = {"postgres": 5432, "redis": 6379, "amqp": 5672}
CHUNK = 65_536


class Proxy:
    """Forwards a loopback port to the server at `url`, in a thread."""

    def __init__(self, url: str) -> None:
        self.parts = urlsplit(url)
        self.target = (self.parts.hostname or "127.0.0.1", self.parts.port or PORTS[self.parts.scheme])
        self.port = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._listening: asyncio.Server | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)

    def __enter__(self) -> "Proxy":
        self._thread.start()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    @property
    def url(self) -> str:
        """The server's address through the proxy."""
        user, at, _ = self.parts.netloc.rpartition("@")
        return urlunsplit(self.parts._replace(netloc=f"{user}{at}127.0.0.1:{self.port}"))

    def reset_connections(self) -> None:
        """Resets all connections; new ones are accepted."""
        self._in_loop(self._reset_connections())

    def stop(self) -> None:
        """Resets all connections and refuses new ones, like a server that restarts."""
        self._in_loop(self._stop())

    def start(self) -> None:
        self._in_loop(self._listen())

    async def _listen(self) -> None:
        if self._listening is None:
            self._listening = await asyncio.start_server(self._forward, "127.0.0.1", self.port)
            self.port = self._listening.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        await self._reset_connections()

    async def _reset_connections(self) -> None:
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
    """Copies data until one side closes, then closes the other."""
    try:
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()
