"""Sockets in slices: names, addresses, full buffers and time limits of single requests."""

import socket
import ssl
import threading
import time
from collections.abc import Callable

import httpcore
import httpx
import pytest

from refinement.providers import network, watch
from refinement.providers.base import CallControl, Cancelled, ErrorKind, ProviderError
from refinement.providers.network import SlicedBackend, SlicedStream
from refinement.providers.sorting import wire_failure
from refinement.providers.transport import client_for
from refinement.providers.watch import watching
from tests.loopback.faults import Fault
from tests.loopback.server import LoopbackServer


def cancelled_after(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def test_a_name_is_looked_up(ollama_server: LoopbackServer) -> None:
    assert client_for(f"http://localhost:{ollama_server.port}").get("/api/version").is_success


def test_a_name_that_is_none_cannot_be_reached() -> None:
    with pytest.raises(httpcore.ConnectError):
        SlicedBackend().connect_tcp("no-such-host.invalid", 80)


def test_a_zone_that_this_machine_does_not_have_cannot_be_reached() -> None:
    with pytest.raises(httpcore.ConnectError):
        SlicedBackend().connect_tcp("fe80::1%no-such-zone", 80)


def test_a_name_service_that_hangs_can_be_left(monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: release.wait(10) and [])
    with pytest.raises(Cancelled), watching(CallControl(is_cancelled=cancelled_after(0.1)), "x"):
        SlicedBackend().connect_tcp("slow.example", 80)
    with pytest.raises(httpcore.ConnectTimeout):
        SlicedBackend().connect_tcp("slow.example", 80, timeout=0.1)
    release.set()
    with pytest.raises(httpcore.ConnectError, match="has no address"):
        SlicedBackend().connect_tcp("empty.example", 80)


def test_a_server_that_does_not_take_the_connection_can_be_left() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        waiting = []
        # The kernel takes a few connections on its own account; those after them wait.
        for _ in range(4):
            waiting.append(socket.socket())
            waiting[-1].setblocking(False)
            waiting[-1].connect_ex(("127.0.0.1", port))
        with pytest.raises(Cancelled), watching(CallControl(is_cancelled=cancelled_after(0.1)), "x"):
            SlicedBackend().connect_tcp("127.0.0.1", port)
        for sock in waiting:
            sock.close()


def test_an_address_of_the_wrong_family_is_an_error() -> None:
    with socket.socket() as sock, pytest.raises(OSError, match=r"nvalid|rotected|ermission|nreachable"):
        network._connect(sock, ("255.255.255.255", 1), None)


def test_a_reader_who_does_not_read_can_be_left() -> None:
    ours, theirs = socket.socketpair()
    stream = SlicedStream(ours)
    with pytest.raises(Cancelled), watching(CallControl(is_cancelled=cancelled_after(0.1)), "x"):
        stream.write(b"x" * 50_000_000)
    theirs.close()
    with pytest.raises(httpcore.WriteError):
        stream.write(b"x" * 1000)
    stream.close()
    assert stream.get_extra_info("is_readable")
    assert stream.get_extra_info("socket") is ours
    assert stream.get_extra_info("other") is None


def test_tls_on_a_closed_socket_is_unreachable() -> None:
    ours, theirs = socket.socketpair()
    theirs.close()
    with pytest.raises(httpcore.ConnectError):
        SlicedStream(ours).start_tls(ssl.create_default_context(), "localhost", 1)
    already_closed, other = socket.socketpair()
    stream = SlicedStream(already_closed)
    stream.close()
    other.close()
    with pytest.raises(httpcore.ConnectError):
        stream.start_tls(ssl.create_default_context(), "localhost", 1)


def test_a_request_may_have_its_own_time_limit(ollama_server: LoopbackServer) -> None:
    ollama_server.faults = [Fault("hang")]
    client = client_for(ollama_server.address)
    with pytest.raises(httpx.ReadTimeout) as caught:
        client.post("/api/chat", json={}, timeout=0.2)
    sorted_error = wire_failure(caught.value, "Ollama", began=False)
    assert (sorted_error.kind, sorted_error.retryable) == (ErrorKind.TIMEOUT, True)


def test_watches_nest() -> None:
    assert watch.current() is None
    with watching(CallControl(), "outer") as outer:
        with watching(CallControl(), "inner") as inner:
            assert watch.current() is inner
        assert watch.current() is outer
    assert watch.current() is None


def test_a_deadline_of_nothing_is_over_at_once() -> None:
    with pytest.raises(ProviderError, match="within 0 seconds"), watching(CallControl(0.0), "x"):
        raise AssertionError("the call must not begin")


def test_a_lock_is_given_back() -> None:
    lock = threading.Lock()
    with watching(CallControl(), "x") as current, current.holding(lock):
        assert lock.locked()
    assert not lock.locked()
