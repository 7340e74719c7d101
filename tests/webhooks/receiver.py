"""A server on the loopback address that receives webhooks and can respond incorrectly."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """The received requests, and how to respond to the next one: bytes, or an action on the connection."""

    port: int = 0
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    answer: bytes | Callable[[socket.socket], None] = OK
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def drips(self, connection: socket.socket) -> None:
        """Sends one header byte after the other until the client disconnects."""
        connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not self.ended.wait(0.05):
            connection.sendall(b"x")

    def drips_a_body(self, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not self.ended.wait(0.05):
            connection.sendall(b"x")

    def says_nothing(self, connection: socket.socket) -> None:
        self.ended.wait()

    def floods(self, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while not self.ended.is_set():
            connection.sendall(b"flood " * 10_000)


def redirect(to: str) -> bytes:
    return f"HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode()


def status(number: int, said: str = "") -> bytes:
    return f"HTTP/1.1 {number} So\r\nContent-Length: {len(said.encode())}\r\n\r\n{said}".encode()


@contextmanager
def receiving(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """A receiver that runs until the block ends."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def setup(self) -> None:
            receiver.connections += 1
            super().setup()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.received.append(Received(self.path, dict(self.headers.items()), body))
            self.close_connection = True
            with contextlib.suppress(OSError):
                if callable(receiver.answer):
                    receiver.answer(self.connection)
                else:
                    self.connection.sendall(receiver.answer)

        def log_message(self, *args: object) -> None:
            """Silent: tests report failures themselves."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """Silent: in many tests, the sender disconnects."""

    server = Server(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
