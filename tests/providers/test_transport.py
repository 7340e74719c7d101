"""Complete and broken responses, and calls cancelled before any response."""

import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import httpx
import pytest

from refinement.providers.base import CallControl, Cancelled, ErrorKind, ProviderError
from refinement.providers.cancelling import calling, current_call
from refinement.providers.sorting import transport_error
from refinement.providers.transport import client_for
from tests.loopback.faults import Fault
from tests.loopback.server import LoopbackServer

PROMPTLY = 8.0  # seconds; without a cancel it would be at least ten
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
SIZED = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"


class Served:
    """Sends given bytes for each request, on as many connections as come, and closes them."""

    answer: Sequence[bytes] = ()
    reads = True

    def __enter__(self) -> "Served":
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            if not self.reads:
                time.sleep(5)
            elif connection.recv(65_536):
                for part in self.answer:
                    connection.sendall(part)


@pytest.fixture
def served() -> Iterator[Served]:
    with Served() as server:
        yield server


def get(served: Served) -> httpx.Response:
    with calling(CallControl(), "x"):
        return client_for(f"http://127.0.0.1:{served.port}").get("/")


WHOLE = {
    "sized": ([SIZED + b"hello"], 200),
    "sized, in parts": ([SIZED[:9], SIZED[9:] + b"he", b"llo"], 200),
    "chunked": ([CHUNKED + b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"], 200),
    "chunked, in parts": ([CHUNKED + b"2\r\nhe\r\n", b"3\r\nll", b"o\r\n0\r\n", b"\r\n"], 200),
    "until the end": ([b"HTTP/1.1 200 OK\r\n\r\nhe", b"llo"], 200),
    "closing": ([SIZED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n") + b"hello"], 200),
    "of old": ([SIZED.replace(b"1.1", b"1.0") + b"hello"], 200),
    "after a greeting": ([b"HTTP/1.1 100 Continue\r\n\r\n" + SIZED, b"hello"], 200),
    "followed by another": ([SIZED + b"hello" + SIZED.replace(b"200", b"500") + b"there"], 200),
    "followed by rubbish": ([SIZED + b"hello", b"<html>"], 200),
    "with bare line ends": ([SIZED.replace(b"\r\n", b"\n") + b"hello"], 200),
    "with a length besides chunks": (
        [CHUNKED.replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\n") + b"5 \r\nhello\r\n0\r\n\r\n"],
        200,
    ),
    "a refusal": ([SIZED.replace(b"200 OK", b"503 Away") + b"hello"], 503),
}


@pytest.mark.parametrize(("parts", "status"), WHOLE.values(), ids=WHOLE)
def test_a_whole_answer(served: Served, parts: list[bytes], status: int) -> None:
    served.answer = parts
    answer = get(served)
    assert (answer.status_code, answer.text) == (status, "hello")


def test_an_answer_without_a_body(served: Served) -> None:
    served.answer = [b"HTTP/1.1 204 No Content\r\n\r\n"]
    assert get(served).text == ""


BROKEN = {
    "nothing": [],
    "half a head": [SIZED[:20]],
    "too little": [SIZED + b"hell"],
    "no last chunk": [CHUNKED + b"2\r\nhe\r\n"],
    "no HTTP": [b"<html>who are you</html>"],
    "two lengths": [SIZED.replace(b"\r\n\r\n", b"\r\nContent-Length: 6\r\n\r\n") + b"hello!"],
    "another protocol": [b"HTTP/1.1 101 Sure\r\nUpgrade: tea\r\nConnection: upgrade\r\n\r\n"],
    "a head without end": [b"HTTP/1.1 200 OK\r\n", *[b"X-More: " + b"x" * 60_000 + b"\r\n"] * 5],
}


@pytest.mark.parametrize("parts", BROKEN.values(), ids=BROKEN)
def test_a_broken_answer(served: Served, parts: list[bytes]) -> None:
    served.answer = parts
    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
        get(served)


def test_every_request_has_its_own_connection(served: Served) -> None:
    served.answer = [SIZED + b"hello"]
    assert [get(served).text for _ in range(3)] == ["hello"] * 3
    assert served.connections == 3


def test_a_name_is_looked_up(ollama_server: LoopbackServer) -> None:
    with calling(CallControl(), "x"):
        assert client_for(f"http://localhost:{ollama_server.port}").get("/api/version").is_success


@pytest.mark.parametrize("host", ["no-such-host.invalid", "[fe80::1%25no-such-zone]"])
def test_a_host_that_is_none_cannot_be_reached(host: str) -> None:
    with pytest.raises(httpx.ConnectError), calling(CallControl(), "x"):
        client_for(f"http://{host}:9").get("/")


def test_a_request_may_have_its_own_time_limit(ollama_server: LoopbackServer) -> None:
    ollama_server.faults = [Fault("hang")]
    with pytest.raises(httpx.ReadTimeout) as caught, calling(CallControl(), "x"):
        client_for(ollama_server.address).post("/api/chat", json={}, timeout=0.2)
    sorted_error = transport_error(caught.value, "Ollama", began=False)
    assert (sorted_error.kind, sorted_error.retryable) == (ErrorKind.TIMEOUT, True)


# --- cancelled before any answer ------------------------------------------------------------------
def cancelled_after(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def seconds_until_cancelled(address: str, body: bytes = b"{}") -> float:
    began = time.monotonic()
    with pytest.raises(Cancelled), calling(CallControl(is_cancelled=cancelled_after(0.1)), "x"):
        client_for(address).post("/", content=body)
    return time.monotonic() - began - 0.1


def requests_under_way() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "model-request"]


def test_while_the_name_is_looked_up(monkeypatch: pytest.MonkeyPatch, served: Served) -> None:
    release = threading.Event()
    look_up = socket.getaddrinfo

    def hang(host: str, *more: object, **options: object) -> object:
        release.wait(10)
        return look_up("127.0.0.1", *more, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    assert seconds_until_cancelled(f"http://slow.example:{served.port}") < PROMPTLY
    release.set()  # a connection that comes too late is closed, and nothing is sent on it
    for thread in requests_under_way():
        thread.join(5)
        assert not thread.is_alive()


def test_while_the_server_does_not_take_the_connection() -> None:
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
        assert seconds_until_cancelled(f"http://127.0.0.1:{port}") < PROMPTLY
        for sock in waiting:
            sock.close()


def test_while_the_server_does_not_greet_in_tls(served: Served) -> None:
    served.reads = False
    assert seconds_until_cancelled(f"https://127.0.0.1:{served.port}") < PROMPTLY


def test_while_the_server_does_not_read(served: Served) -> None:
    served.reads = False
    assert seconds_until_cancelled(f"http://127.0.0.1:{served.port}", b"x" * 50_000_000) < PROMPTLY


def test_an_answer_that_comes_as_the_call_is_cancelled_is_closed() -> None:
    class Answer:
        closed = False

        def close(self) -> None:
            self.closed = True

    answer, asked, release = Answer(), threading.Event(), threading.Event()

    def work() -> Answer:
        asked.set()
        release.wait(5)
        return answer

    with pytest.raises(Cancelled), calling(CallControl(is_cancelled=asked.is_set), "x") as call:
        call.run(work)
    release.set()
    for thread in requests_under_way():
        thread.join(5)
    assert answer.closed


def test_a_tls_server_that_hangs_up_cannot_be_reached() -> None:
    with Served() as server, pytest.raises(httpx.ConnectError), calling(CallControl(), "x"):
        client_for(f"https://127.0.0.1:{server.port}").get("/")


# --- calls ----------------------------------------------------------------------------------------
def test_calls_nest() -> None:
    with calling(CallControl(), "outer") as outer:
        with calling(CallControl(), "inner") as inner:
            assert current_call() is inner
        assert current_call() is outer
    with pytest.raises(LookupError):
        current_call()


def test_a_deadline_of_nothing_is_over_at_once() -> None:
    with pytest.raises(ProviderError, match="within 0 seconds"), calling(CallControl(0.0), "x"):
        raise AssertionError("the call must not begin")


def test_a_lock_is_given_back_and_its_wait_can_be_cancelled() -> None:
    lock = threading.Lock()
    with calling(CallControl(), "x") as call, call.holding(lock):
        assert lock.locked()
        with (
            pytest.raises(Cancelled),
            calling(CallControl(is_cancelled=cancelled_after(0.1)), "y") as other,
            other.holding(lock),
        ):
            raise AssertionError("the lock is taken")
    assert not lock.locked()
