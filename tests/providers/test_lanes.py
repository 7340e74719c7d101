"""Answers as servers send them, whole and broken, on a connection that is kept or not."""

import socket
import threading
from collections.abc import Iterator, Sequence

import httpx
import pytest

from refinement.providers import lanes
from refinement.providers.lanes import Answer, written
from refinement.providers.transport import PooledTransport

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
SIZED = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"


def read(*arrivals: bytes) -> Answer:
    answer = Answer()
    for data in arrivals:
        answer.feed(data)
    return answer


WHOLE = {
    "sized": ([SIZED + b"hello"], 200, True),
    "sized, in parts": ([SIZED[:9], SIZED[9:] + b"he", b"llo"], 200, True),
    "chunked": ([CHUNKED + b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"], 200, True),
    "chunked, in parts": ([CHUNKED + b"2\r\nhe\r\n", b"3\r\nll", b"o\r\n0\r\n", b"\r\n"], 200, True),
    "until the end": ([b"HTTP/1.1 200 OK\r\n\r\nhe", b"llo", b""], 200, False),
    "closing": ([SIZED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n") + b"hello"], 200, False),
    "of old": ([SIZED.replace(b"1.1", b"1.0") + b"hello"], 200, False),
    "after a greeting": ([b"HTTP/1.1 100 Continue\r\n\r\n" + SIZED, b"hello"], 200, True),
    "followed by another": ([SIZED + b"hello" + SIZED.replace(b"200", b"500") + b"there"], 200, False),
    "followed by rubbish": ([SIZED + b"hello", b"<html>"], 200, False),
    "with bare line ends": ([SIZED.replace(b"\r\n", b"\n") + b"hello"], 200, True),
    "with a length besides chunks": (
        [CHUNKED.replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\n") + b"5 \r\nhello\r\n0\r\n\r\n"],
        200,
        True,
    ),
    "a refusal": ([SIZED.replace(b"200 OK", b"503 Away") + b"hello"], 503, True),
}


@pytest.mark.parametrize(("arrivals", "status", "kept"), WHOLE.values(), ids=WHOLE)
def test_a_whole_answer(arrivals: list[bytes], status: int, kept: bool) -> None:
    answer = read(*arrivals)
    assert (answer.status, answer.is_whole, answer.keeps_connection()) == (status, True, kept)
    assert b"".join(answer.pieces) == b"hello"


def test_an_answer_without_a_body() -> None:
    answer = read(b"HTTP/1.1 204 No Content\r\n\r\n")
    assert (answer.is_whole, answer.pieces) == (True, [])


BROKEN = {
    "nothing": [b""],
    "half a head": [SIZED[:20], b""],
    "too little": [SIZED + b"hell", b""],
    "no last chunk": [CHUNKED + b"2\r\nhe\r\n", b""],
    "no HTTP": [b"<html>who are you</html>"],
    "two lengths": [SIZED.replace(b"\r\n\r\n", b"\r\nContent-Length: 6\r\n\r\n") + b"hello!"],
    "another protocol": [b"HTTP/1.1 101 Sure\r\nUpgrade: tea\r\nConnection: upgrade\r\n\r\n"],
    "a head without end": [b"HTTP/1.1 200 OK\r\n", *[b"X-More: " + b"x" * 60_000 + b"\r\n"] * 5],
}


@pytest.mark.parametrize("arrivals", BROKEN.values(), ids=BROKEN)
def test_a_broken_answer(arrivals: list[bytes]) -> None:
    with pytest.raises(httpx.RemoteProtocolError), lanes._as_httpx():
        read(*arrivals)


def test_a_request_is_one_piece() -> None:
    request = httpx.Request("POST", "http://one.example:81/a?b=c", content=b"{}")
    head, _, body = written(request).partition(b"\r\n\r\n")
    assert head.startswith(b"POST /a?b=c HTTP/1.1\r\nHost: one.example:81\r\n")
    assert b"Content-Length: 2" in head
    assert body == b"{}"


def test_a_key_with_a_line_end_is_not_sent() -> None:
    request = httpx.Request("GET", "http://one.example/", headers={"Authorization": "Bearer a\r\nX-Admin: 1"})
    with pytest.raises(httpx.LocalProtocolError, match="Authorization"):
        written(request)


def test_other_methods_are_refused() -> None:
    with pytest.raises(httpx.UnsupportedProtocol, match="HEAD"):
        written(httpx.Request("HEAD", "http://one.example/"))


@pytest.fixture
def served() -> Iterator["Served"]:
    with Served() as server:
        yield server


class Served:
    """Sends given bytes for each request, on as many connections as come."""

    answers: Sequence[bytes] = ()
    close_after = False

    def __enter__(self) -> "Served":
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
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
            while connection.recv(65_536):
                for part in self.answers:
                    connection.sendall(part)
                if self.close_after:
                    return


def client_of(served: Served) -> httpx.Client:
    return httpx.Client(base_url=served.address, transport=PooledTransport(), trust_env=False)


@pytest.mark.parametrize(("closing", "connections"), [(False, 1), (True, 3)])
def test_connections_are_kept_where_the_server_keeps_them(
    served: Served, closing: bool, connections: int
) -> None:
    served.answers, served.close_after = [SIZED, b"hello"], closing
    with client_of(served) as client:
        assert [client.get("/").text for _ in range(3)] == ["hello"] * 3
    assert served.connections == connections


def test_a_connection_that_says_more_than_asked_is_not_used_again(served: Served) -> None:
    served.answers = [SIZED + b"hello" + SIZED + b"wrong"]
    with client_of(served) as client:
        assert [client.get("/").text for _ in range(2)] == ["hello"] * 2
    assert served.connections == 2


def test_an_answer_left_in_the_middle_closes_its_connection(served: Served) -> None:
    served.answers = [CHUNKED + b"5\r\nhello\r\n"]
    with client_of(served) as client:
        with client.stream("GET", "/") as answer:
            assert next(answer.iter_bytes()) == b"hello"
        served.answers = [SIZED + b"again"]
        assert client.get("/").text == "again"
    assert served.connections == 2


def test_a_connection_kept_for_too_long_is_not_used(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    served.answers = [SIZED + b"hello"]
    monkeypatch.setattr(lanes, "KEPT_SECONDS", -1.0)
    with client_of(served) as client:
        assert [client.get("/").text for _ in range(2)] == ["hello"] * 2
    assert served.connections == 2
