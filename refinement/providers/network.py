"""Sockets whose waits come in slices, so that a call can be stopped before the first byte has come."""

import errno
import ipaddress
import os
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

import httpcore

from refinement.providers.watch import SLICE_SECONDS, current

T = TypeVar("T")
Address = tuple[int, int, int, str, Any]


def _look(until: float | None, timed_out: type[Exception]) -> None:
    """Between two slices: may the call go on?"""
    watch = current()
    if watch is not None:
        watch.check()
    if until is not None and time.monotonic() >= until:
        raise timed_out("The server did not answer in time.")


def _end(timeout: float | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout


def _in_slices(
    step: Callable[[], T], timeout: float | None, timed_out: type[Exception], failed: type[Exception]
) -> T:
    """Repeats a socket operation that waits one slice at a time until it is done or must stop."""
    until = _end(timeout)
    while True:
        try:
            return step()
        except TimeoutError:
            _look(until, timed_out)
        except OSError as error:
            _look(None, timed_out)  # the line may have been cut because the call is to stop
            raise failed(str(error)) from error


class SlicedStream(httpcore.NetworkStream):
    """A connected socket, plain or TLS."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._slice = 0.0
        self._wait_for(SLICE_SECONDS)
        self.was_kept = False  # whether an earlier request was answered on it
        self.answered = False  # whether any byte of the present request's answer has come

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        watch = current()
        alarm = None if watch is None or timeout is not None else watch.alarm
        if watch is None or alarm is None:
            data = self._read(max_bytes, timeout, lambda: SLICE_SECONDS)
        else:
            alarm.wait_on(self._socket)
            try:
                if alarm.rung:
                    watch.check()
                data = self._read(max_bytes, None, watch.slice_seconds)
            finally:
                alarm.wait_on(None)  # the connection may be another call's in a moment
            if alarm.rung:
                watch.check()
        if data:
            self.answered = True
            if watch is not None:
                watch.check_sometimes()
        return data

    def _read(self, max_bytes: int, timeout: float | None, seconds: Callable[[], float]) -> bytes:
        def step() -> bytes:
            self._wait_for(seconds())
            return self._socket.recv(max_bytes)

        return _in_slices(step, timeout, httpcore.ReadTimeout, httpcore.ReadError)

    def _wait_for(self, seconds: float) -> None:
        """How long a wait lasts before somebody looks."""
        if self._slice != seconds:
            self._slice = seconds
            self._socket.settimeout(seconds)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if self.answered:
            self.was_kept, self.answered = True, False
        self._wait_for(SLICE_SECONDS)
        rest = memoryview(buffer)
        while rest:
            sent = _in_slices(
                partial(self._socket.send, rest),
                timeout,
                httpcore.WriteTimeout,
                httpcore.WriteError,
            )
            rest = rest[sent:]

    @property
    def is_closed(self) -> bool:
        return self._socket.fileno() < 0

    def close(self) -> None:
        self._socket.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> "SlicedStream":
        try:
            wrapped = ssl_context.wrap_socket(
                self._socket, server_hostname=server_hostname, do_handshake_on_connect=False
            )
        except OSError as error:
            self.close()
            raise httpcore.ConnectError(str(error)) from error
        try:
            _in_slices(wrapped.do_handshake, timeout, httpcore.ConnectTimeout, httpcore.ConnectError)
        except BaseException:
            wrapped.close()
            raise
        return SlicedStream(wrapped)

    def get_extra_info(self, info: str) -> Any:
        if info == "ssl_object":
            return self._socket if isinstance(self._socket, ssl.SSLSocket) else None
        if info == "socket":
            return self._socket
        if info == "is_readable":
            return _is_readable(self._socket)
        return None


def _is_readable(sock: socket.socket) -> bool:
    """Whether an idle connection has something to say, which can only be that it was closed."""
    if sock.fileno() < 0:
        return True
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))


class SlicedBackend(httpcore.NetworkBackend):
    """Opens connections without ever waiting longer than a slice."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> SlicedStream:
        until = _end(timeout)
        problem: Exception = httpcore.ConnectError(f"{host} has no address.")
        for family, kind, protocol, _, target in addresses_of(host, port, timeout):
            sock = socket.socket(family, kind, protocol)
            try:
                _connect(sock, target, until)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return SlicedStream(sock)
            except OSError as error:
                sock.close()
                problem = httpcore.ConnectError(str(error))
            except BaseException:
                sock.close()
                raise
        raise problem


def _connect(sock: socket.socket, target: Any, until: float | None) -> None:
    sock.setblocking(False)
    code = sock.connect_ex(target)
    if code not in (0, errno.EINPROGRESS, errno.EWOULDBLOCK):
        raise OSError(code, os.strerror(code))
    poll = select.poll()
    poll.register(sock, select.POLLOUT)
    while not poll.poll(SLICE_SECONDS * 1000):
        _look(until, httpcore.ConnectTimeout)
    code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if code:
        raise OSError(code, os.strerror(code))


def addresses_of(host: str, port: int, timeout: float | None) -> list[Address]:
    """What the name stands for; a name service that hangs does not keep the call from stopping."""
    if _is_numeric(host):
        try:
            return list(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:  # a zone that this machine does not have
            raise httpcore.ConnectError(str(error)) from error
    until = _end(timeout)
    found: list[Address] = []
    problems: list[Exception] = []

    def look_up() -> None:
        try:
            found.extend(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:  # the latter for a name that no name service could hold
            problems.append(error)

    thread = threading.Thread(target=look_up, daemon=True, name="name-lookup")
    thread.start()
    while thread.is_alive():
        thread.join(SLICE_SECONDS)
        if thread.is_alive():
            _look(until, httpcore.ConnectTimeout)
    if problems:
        raise httpcore.ConnectError(str(problems[0])) from problems[0]
    return found


def _is_numeric(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
