"""Cancel and deadline, before the first byte and in the middle; many threads; kept connections."""

import asyncio
import ssl
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from refinement.providers import lanes, transport, watch
from refinement.providers.alarm import Alarm
from refinement.providers.base import CallControl, Cancelled, ErrorKind, Provider
from refinement.providers.ollama import OllamaProvider
from tests.loopback.connection import Connection, Request
from tests.loopback.faults import Fault
from tests.loopback.server import CHAT_PATHS, LoopbackServer
from tests.providers.asking import MAKERS, Stopper, ask, failure, wanted


def cancelled_when(
    provider: Provider, stopper: Stopper, server: LoopbackServer, ready: object, alarm: Alarm | None = None
) -> None:
    """Presses the button once the server is ready for it; the call then ends."""
    ended = threading.Event()

    def run() -> None:
        with pytest.raises(Cancelled):
            provider.complete(wanted(), CallControl(is_cancelled=stopper, alarm=alarm))
        ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    server.wait_for(ready)  # type: ignore[arg-type]
    stopper.press()
    if alarm is not None:
        alarm.ring()
    assert ended.wait(60), "the call did not end"
    thread.join()


@pytest.mark.parametrize("kind", MAKERS)
def test_cancel_before_the_first_byte(ollama_server: LoopbackServer, kind: str) -> None:
    ollama_server.faults = [Fault("hang")]
    cancelled_when(MAKERS[kind](ollama_server), Stopper(), ollama_server, lambda: ollama_server.chats)
    ollama_server.wait_for(lambda: ollama_server.chats[0].aborted)


@pytest.fixture
def nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has an alarm waits for it alone."""
    monkeypatch.setattr(watch, "ALARMED_SECONDS", 300.0)


@pytest.mark.usefixtures("nobody_asks")
@pytest.mark.parametrize("kind", MAKERS)
def test_an_alarm_ends_a_call_before_its_first_byte(ollama_server: LoopbackServer, kind: str) -> None:
    ollama_server.faults = [Fault("hang", nth=(1,))]
    provider, server = MAKERS[kind](ollama_server), ollama_server
    cancelled_when(provider, Stopper(), server, lambda: server.chats, Alarm())
    server.wait_for(lambda: server.chats[0].aborted)
    assert ask(provider).text  # on a connection of its own


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
def test_a_kept_connection_that_died_is_replaced_once(ollama_server: LoopbackServer, kind: str) -> None:
    provider = MAKERS[kind](ollama_server)
    ask(provider)
    ollama_server.faults = [Fault("drop", nth=(1,))]
    assert ask(provider).text
    assert len(ollama_server.chats) == 3


@pytest.mark.parametrize("kind", MAKERS)
def test_a_server_that_drops_every_call_is_asked_no_third_time(
    ollama_server: LoopbackServer, kind: str
) -> None:
    provider = MAKERS[kind](ollama_server)
    ask(provider)
    ollama_server.faults = [Fault("drop")]
    assert failure(provider).kind is ErrorKind.UNREACHABLE
    assert len(ollama_server.chats) == 3


def test_connections_are_kept_between_calls(ollama_server: LoopbackServer) -> None:
    provider = OllamaProvider(ollama_server.address)
    for _ in range(5):
        ask(provider)
    assert len(ollama_server._connections) == 1
    transport.transport_for(ollama_server.address).close()
    ollama_server.wait_for(lambda: not ollama_server._connections)


def test_one_transport_serves_one_address(ollama_server: LoopbackServer) -> None:
    same = transport.transport_for(ollama_server.address)
    assert transport.transport_for(ollama_server.address + "/v1") is same
    transport._forget_connections()
    assert transport.transport_for(ollama_server.address) is not same


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
    lanes.ssl_context.cache_clear()
    with LoopbackServer(tls=context) as server:
        yield server
    lanes.ssl_context.cache_clear()


def test_an_encrypted_connection_answers_and_stops(tls_server: LoopbackServer) -> None:
    provider = OllamaProvider(tls_server.address)
    assert ask(provider).text
    assert ask(provider).text
    tls_server.faults = [Fault("hang")]
    cancelled_when(provider, Stopper(), tls_server, lambda: len(tls_server.chats) == 3)


@pytest.mark.usefixtures("nobody_asks")
def test_an_alarm_ends_an_encrypted_call(tls_server: LoopbackServer) -> None:
    tls_server.faults = [Fault("hang", nth=(1,))]
    provider = OllamaProvider(tls_server.address)
    cancelled_when(provider, Stopper(), tls_server, lambda: tls_server.chats, Alarm())
    assert ask(provider).text


def test_a_certificate_that_is_not_trusted_is_unreachable(
    tls_server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    error = failure(OllamaProvider(tls_server.address))
    assert error.kind is ErrorKind.UNREACHABLE
    assert "certificate" in error.message.lower()
