"""A model server on the loopback address with Ollama's and OpenAI's protocols, which can simulate failures.

In a test: `with LoopbackServer(replies) as server:`. As a separate process:
`python -m tests.loopback.server --port 0 --latency 1.0`, which prints its address.
"""

import argparse
import asyncio
import json
import os
import signal
import ssl
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from tests.loopback import protocols
from tests.loopback.connection import Connection, Request
from tests.loopback.faults import Fault
from tests.loopback.replies import (
    Answer,
    Asked,
    OutOfReplies,
    Replies,
    from_file,
    from_lists,
    role_by_schema,
    valid_replies,
)
from tests.loopback.spoiling import spoil

T = TypeVar("T")
CHAT_PATHS = {"/api/chat": "ollama", "/v1/chat/completions": "openai"}


@dataclass
class Entry:
    """One received request; times are from the monotonic clock."""

    number: int
    path: str
    protocol: str
    role: str
    body: dict[str, Any]
    headers: dict[str, str]
    started: float
    finished: float | None = None
    aborted: float | None = None  # when the client disconnected before the end


class LoopbackServer:
    """Runs in its own thread; every attribute may be read or changed while it runs."""

    def __init__(
        self,
        replies: Replies | Mapping[str, Sequence[Answer | str]] | None = None,
        *,
        role_of: Callable[[Mapping[str, Any]], str] = role_by_schema,
        models: Sequence[str] = ("loopback:1b", "loopback:8b"),
        any_model: bool = False,
        context_length: int = 40_960,
        latency: float = 0.0,
        chunks: int = 8,
        chunk_delay: float = 0.0,
        faults: Iterable[Fault] = (),
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.replies = from_lists(replies) if isinstance(replies, Mapping) else replies or valid_replies()
        self.role_of = role_of
        self.models = tuple(models)
        self.any_model = any_model
        self.context_length = context_length
        self.latency = latency
        self.chunks = chunks
        self.chunk_delay = chunk_delay
        self.faults = list(faults)
        self.log: list[Entry] = []
        self.port = 0
        self._asked: Counter[str] = Counter()
        self._tls = tls
        self._connections: set[Connection] = set()
        self._listening: asyncio.Server | None = None
        self._loop = asyncio.new_event_loop()

    # --- start and stop -----------------------------------------------------------------------
    def __enter__(self) -> "LoopbackServer":
        self._thread = threading.Thread(target=self._loop.run_forever, name="loopback", daemon=True)
        self._thread.start()
        self.go_online()
        return self

    def __exit__(self, *_: object) -> None:
        self.go_offline()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    def go_online(self) -> None:
        """Starts listening, on the same port as before if it had one."""
        self._in_loop(self.listen(self.port))

    def go_offline(self) -> None:
        """Closes the port and all connections, so that new calls are refused."""
        self._in_loop(self._stop_listening())

    async def listen(self, port: int) -> None:
        loop = asyncio.get_running_loop()
        self._listening = await loop.create_server(
            lambda: Connection(self._connections, self.handle), "127.0.0.1", port, ssl=self._tls, backlog=512
        )
        self.port = self._listening.sockets[0].getsockname()[1]

    async def _stop_listening(self) -> None:
        if self._listening is not None:
            self._listening.close()
        for connection in list(self._connections):
            connection.abort()
        while self._connections:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0)  # cancels responses in progress

    def _in_loop(self, work: Coroutine[Any, Any, T]) -> T:
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return future.result(60)

    # --- for tests ----------------------------------------------------------------------------
    @property
    def address(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def chats(self) -> list[Entry]:
        """The chat requests in the log."""
        return [entry for entry in self.log if entry.path in CHAT_PATHS]

    def wait_for(self, condition: Callable[[], object], seconds: float = 60.0) -> None:
        """Waits until the condition holds; raises an error after a time limit."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"the condition did not hold within {seconds} s; log: {self.log}")
            time.sleep(0.005)

    # --- requests -----------------------------------------------------------------------------
    async def handle(self, request: Request, connection: Connection) -> None:
        """Responds to one request; cancelled when the client disconnects."""
        if request.path.startswith("/__"):
            self._manage(request, connection)
            return
        entry = self._entered(request)
        try:
            if entry.path in CHAT_PATHS:
                await self._chat(entry, connection)
            else:
                self._look_up(entry, connection)
            entry.finished = time.monotonic()
        except asyncio.CancelledError:
            entry.aborted = time.monotonic()
            raise

    def _entered(self, request: Request) -> Entry:
        protocol = CHAT_PATHS.get(request.path, "")
        body = request.json()
        role = self.role_of(body) if protocol else ""
        entry = Entry(
            len(self.log) + 1, request.path, protocol, role, body, request.headers, time.monotonic()
        )
        self.log.append(entry)
        return entry

    async def _chat(self, entry: Entry, connection: Connection) -> None:
        # Every rule counts the call before the first one that applies takes effect.
        met = [fault for fault in self.faults if fault.meets(entry.role)]
        fault = met[0] if met else None
        if fault is not None and await spoil(fault, entry.protocol, str(entry.body.get("model")), connection):
            return
        if not self.any_model and entry.body.get("model") not in self.models:
            await spoil(Fault("unknown_model"), entry.protocol, str(entry.body.get("model")), connection)
            return
        try:
            parts = await self._parts(entry, empty=fault is not None and fault.kind == "empty")
        except OutOfReplies as error:
            connection.respond(500, json.dumps({"error": str(error)}).encode())
            return
        await self._stream(parts, entry.protocol, connection, fault)

    async def _parts(self, entry: Entry, *, empty: bool) -> list[bytes]:
        self._asked[entry.role] += 1
        asked = Asked(entry.protocol, entry.role, self._asked[entry.role], entry.body)
        reply = "" if empty else self.replies(asked)
        if isinstance(reply, Awaitable):  # a response that a test delays, while others are sent
            reply = await reply
        answer = Answer(reply) if isinstance(reply, str) else reply
        form = protocols.ollama_parts if entry.protocol == "ollama" else protocols.openai_parts
        return form(asked, answer, self.chunks)

    async def _stream(
        self, parts: list[bytes], protocol: str, connection: Connection, fault: Fault | None
    ) -> None:
        if self.latency:
            await asyncio.sleep(self.latency)
        connection.start_stream("application/x-ndjson" if protocol == "ollama" else "text/event-stream")
        ending = fault.kind if fault else ""
        if ending in ("reset", "cut", "truncated_line", "error_object"):
            parts = parts[: max(1, len(parts) // 2)]
        if self.chunk_delay:
            for part in parts:
                connection.chunk(part)
                await asyncio.sleep(self.chunk_delay)
        else:
            connection.chunks(parts)
        await self._end_stream(ending, protocol, connection, fault)

    async def _end_stream(
        self, ending: str, protocol: str, connection: Connection, fault: Fault | None
    ) -> None:
        if ending == "reset":
            await asyncio.sleep(0.05)  # so that the sent part arrives before the reset
            connection.abort()
            return
        if ending == "truncated_line":
            connection.chunk(b'{"model": "loopback:1b", "mess' if protocol == "ollama" else b'data: {"choi')
        if ending == "error_object" and fault is not None:
            message = fault.message or "llama runner process has terminated"
            line = json.dumps({"error": message}).encode()
            connection.chunk(line + b"\n" if protocol == "ollama" else b"data: " + line + b"\n\n")
        connection.end_stream()

    def _look_up(self, entry: Entry, connection: Connection) -> None:
        answers: dict[str, Callable[[], object]] = {
            "/api/version": lambda: {"version": "0.12.0"},
            "/api/tags": lambda: protocols.ollama_tags(self.models),
            "/api/show": lambda: protocols.ollama_show(self.context_length),
            "/api/ps": lambda: {"models": []},
            "/v1/models": lambda: protocols.openai_models(self.models, self.context_length),
        }
        fault = next((fault for fault in self.faults if fault.role == entry.path), None)
        if fault is not None:
            connection.respond(fault.status, fault.message.encode())
        elif entry.path in answers:
            connection.respond(200, json.dumps(answers[entry.path]()).encode())
        else:
            connection.respond(404, b"404 page not found", "text/plain")

    def _manage(self, request: Request, connection: Connection) -> None:
        """Reads the log and sets faults, for a test in another process."""
        if request.path == "/__faults" and request.method == "POST":
            self.faults = [Fault.from_json(entry) for entry in json.loads(request.body)]
        if request.path == "/__log" and request.method == "DELETE":
            self.log.clear()
        if request.path == "/__count":
            connection.respond(200, json.dumps({"chats": len(self.chats)}).encode())
            return
        shown = self.log if request.path == "/__log" else self.faults
        connection.respond(200, json.dumps([asdict(entry) for entry in shown]).encode())


async def serve(server: LoopbackServer, port: int) -> None:
    await server.listen(port)
    print(server.address, flush=True)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="A loopback model server for tests and benchmarks.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before the first part")
    parser.add_argument("--chunks", type=int, default=8)
    parser.add_argument("--chunk-delay", type=float, default=0.0, help="seconds between two parts")
    parser.add_argument("--replies", type=Path, help="lines of JSON with role and text, used in turn")
    parser.add_argument("--score", type=float, help="the score of every criterion; changing unless given")
    given = parser.parse_args()
    server = LoopbackServer(
        from_file(given.replies) if given.replies else valid_replies(given.score),
        any_model=True,
        latency=given.latency,
        chunks=given.chunks,
        chunk_delay=given.chunk_delay,
    )
    asyncio.run(serve(server, given.port))
    os._exit(0)


if __name__ == "__main__":
    main()
