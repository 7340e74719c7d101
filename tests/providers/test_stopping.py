"""Cancel and deadline, before the first byte and in the middle; many threads; TLS."""

import asyncio
import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from refinement.providers import transport
from refinement.providers.base import CallControl, Cancelled, ErrorKind, Provider
from refinement.providers.ollama import OllamaProvider
from tests.loopback.connection import Connection, Request
from tests.loopback.faults import Fault
from tests.loopback.server import CHAT_PATHS, LoopbackServer
from tests.providers.asking import MAKERS, Stopper, ask, failure, wanted


def cancelled_when(provider: Provider, stopper: Stopper, server: LoopbackServer, ready: object) -> None:
    """Cancels the call once the server is ready for it; the call then ends."""
    ended = threading.Event()

    def run() -> None:
        with pytest.raises(Cancelled):
            provider.complete(wanted(), CallControl(is_cancelled=stopper))
        ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    server.wait_for(ready)  # type: ignore[arg-type]
    stopper.press()
    assert ended.wait(60), "the call did not end"
    thread.join()


@pytest.mark.parametrize("kind", MAKERS)
def test_cancel_before_the_first_byte(ollama_server: LoopbackServer, kind: str) -> None:
    ollama_server.faults = [Fault("hang")]
    cancelled_when(MAKERS[kind](ollama_server), Stopper(), ollama_server, lambda: ollama_server.chats)
    ollama_server.wait_for(lambda: ollama_server.chats[0].aborted)


@pytest.mark.parametrize("kind", MAKERS)
def test_a_cancelled_call_cuts_off_no_other(ollama_server: LoopbackServer, kind: str) -> None:
    ollama_server.faults = [Fault("hang", nth=(1,))]
    ollama_server.chunks, ollama_server.chunk_delay = 20, 0.1
    server, stopper = ollama_server, Stopper()
    provider = MAKERS[kind](server)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(ask, provider, is_cancelled=stopper)
        server.wait_for(lambda: server.chats)
        second = pool.submit(ask, provider)
        server.wait_for(lambda: len(server.chats) == 2)
        stopper.press()
        with pytest.raises(Cancelled):
            first.result(5)
        assert second.result(10).text
    server.wait_for(lambda: server.chats[0].aborted)
    assert not server.chats[1].aborted


@pytest.mark.parametrize("kind", MAKERS)
def test_cancel_in_the_middle_of_a_stream(ollama_server: LoopbackServer, kind: str) -> None:
    ollama_server.chunks, ollama_server.chunk_delay = 200, 0.05
    heard: list[str] = []
    stopper = Stopper()

    def hear(piece: str) -> None:
        heard.append(piece)
        if len(heard) == 3:
            stopper.press()

    with pytest.raises(Cancelled):
        ask(MAKERS[kind](ollama_server), is_cancelled=stopper, on_text=hear)
    ollama_server.wait_for(lambda: ollama_server.chats[0].aborted)
    assert ollama_server.chats[0].finished is None


@pytest.mark.parametrize("kind", MAKERS)
def test_a_call_cancelled_beforehand_sends_nothing(ollama_server: LoopbackServer, kind: str) -> None:
    with pytest.raises(Cancelled):
        ask(MAKERS[kind](ollama_server), is_cancelled=lambda: True)
    assert ollama_server.log == []


@pytest.mark.parametrize("kind", MAKERS)
def test_the_deadline_holds_for_a_stream_that_drips(ollama_server: LoopbackServer, kind: str) -> None:
    ollama_server.chunks, ollama_server.chunk_delay = 200, 0.05
    error = failure(MAKERS[kind](ollama_server), deadline_seconds=0.5)
    assert error.kind is ErrorKind.TIMEOUT
    ollama_server.wait_for(lambda: ollama_server.chats[0].aborted)


@pytest.mark.parametrize("kind", MAKERS)
def test_a_listener_that_fails_ends_the_call(ollama_server: LoopbackServer, kind: str) -> None:
    ollama_server.chunks, ollama_server.chunk_delay = 200, 0.05

    def fail(piece: str) -> None:
        raise ValueError("no room to write")

    with pytest.raises(ValueError, match="no room to write"):
        ask(MAKERS[kind](ollama_server), on_text=fail)
    ollama_server.wait_for(lambda: ollama_server.chats[0].aborted)


class Gathering(LoopbackServer):
    """Answers nobody before 32 have called: calls that waited for each other would never be answered."""

    calls = 0

    async def handle(self, request: Request, connection: Connection) -> None:
        self.calls += request.path in CHAT_PATHS
        while request.path in CHAT_PATHS and self.calls < 32:
            await asyncio.sleep(0.005)
        await super().handle(request, connection)


@pytest.mark.parametrize("kind", MAKERS)
def test_many_threads_share_one_provider(kind: str) -> None:
    with Gathering(lambda asked: asked.body["messages"][1]["content"]) as server:
        provider = MAKERS[kind](server)
        with ThreadPoolExecutor(32) as pool:
            texts = list(pool.map(lambda n: ask(provider, wanted(f"text {n}")).text, range(64)))
    assert texts == [f"text {n}" for n in range(64)]


@pytest.mark.parametrize("kind", MAKERS)
def test_a_call_that_the_server_drops_is_not_sent_twice(ollama_server: LoopbackServer, kind: str) -> None:
    provider = MAKERS[kind](ollama_server)
    ask(provider)
    ollama_server.faults = [Fault("drop")]
    assert failure(provider).kind is ErrorKind.UNREACHABLE
    assert len(ollama_server.chats) == 2


@pytest.mark.parametrize("kind", MAKERS)
def test_every_call_has_a_connection_of_its_own(ollama_server: LoopbackServer, kind: str) -> None:
    provider = MAKERS[kind](ollama_server)
    for _ in range(3):
        ask(provider)
        ollama_server.wait_for(lambda: not ollama_server._connections)


def test_an_error_while_asking_whether_to_go_on_is_the_callers(ollama_server: LoopbackServer) -> None:
    ollama_server.faults = [Fault("hang")]

    def is_cancelled() -> bool:
        if ollama_server.chats:
            raise LookupError("no such run")
        return False

    with pytest.raises(LookupError, match="no such run"):
        ask(OllamaProvider(ollama_server.address), is_cancelled=is_cancelled)
    ollama_server.wait_for(lambda: ollama_server.chats[0].aborted)


def test_a_forked_process_watches_its_own_calls(ollama_server: LoopbackServer) -> None:
    provider = OllamaProvider(ollama_server.address)
    assert ask(provider).text
    ollama_server.faults = [Fault("hang")]
    child = os.fork()
    if child == 0:
        error = failure(provider, deadline_seconds=0.2)
        os._exit(0 if error.kind is ErrorKind.TIMEOUT else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.fixture
def tls_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    pair = tmp_path / "pair.pem"
    command_end = "-days 2 -subj /CN=localhost"
    names = "subjectAltName=IP:127.0.0.1,DNS:localhost"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    files = ["-keyout", str(pair), "-out", str(tmp_path / "certificate.pem")]
    subprocess.run(
        [*command.split(), *command_end.split(), "-addext", names, *files], check=True, capture_output=True
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "certificate.pem", pair)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    fresh = [transport.ssl_context.cache_clear, transport.transport.cache_clear]
    for clear in fresh:
        clear()
    with LoopbackServer(tls=context) as server:
        yield server
    for clear in fresh:
        clear()


def test_an_encrypted_connection_answers_and_stops(tls_server: LoopbackServer) -> None:
    provider = OllamaProvider(tls_server.address)
    assert ask(provider).text
    assert ask(provider).text
    tls_server.faults = [Fault("hang")]
    cancelled_when(provider, Stopper(), tls_server, lambda: len(tls_server.chats) == 3)


def test_a_certificate_that_is_not_trusted_is_unreachable(
    tls_server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    error = failure(OllamaProvider(tls_server.address))
    assert error.kind is ErrorKind.UNREACHABLE
    assert "certificate" in error.message.lower()
