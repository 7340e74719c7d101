"""Cancels model calls: one watcher thread per process closes the socket of each cancelled call."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import Event, Lock, Thread
from typing import Any, Protocol, TypeVar

from refinement.providers.base import CallControl, Cancelled, ErrorKind, ProviderError

CHECK_SECONDS = 0.3  # a cancelled call ends within a second


class Closable(Protocol):
    def close(self) -> None: ...


T = TypeVar("T", bound=Closable)


class Call:
    """One model call, from its start to its reply."""

    def __init__(self, control: CallControl, where: str) -> None:
        self.reason: Exception | None = None  # why it was cancelled
        self._control = control
        self._where = where
        self._started = time.monotonic()
        self._over = Event()
        self._lock = Lock()
        self._socket: socket.socket | None = None
        self._awaited: Future[Any] = Future()

    def elapsed(self) -> float:
        return time.monotonic() - self._started

    def check(self) -> None:
        """Raises Cancelled, or a timeout as ProviderError, if the call was cancelled."""
        if self.reason is not None:
            raise self.reason

    def pause(self, seconds: float) -> None:
        """Sleeps; raises like `check` if the call is cancelled in the meantime."""
        self._over.wait(seconds)
        self.check()

    @contextmanager
    def holding(self, lock: Lock) -> Iterator[None]:
        """Holds the lock during the block; waiting for it can be cancelled."""
        while not lock.acquire(timeout=CHECK_SECONDS):
            self.check()
        try:
            yield
        finally:
            lock.release()

    def run(self, work: Callable[[], T]) -> T:
        """Runs `work` in a thread and returns its result, because a DNS lookup cannot be interrupted.

        If the call is cancelled, this raises at once, and a late result is closed.
        """
        self._awaited = Future()
        self.check()
        Thread(target=_run, args=(work, self._awaited), daemon=True, name="model-request").start()
        result: T = self._awaited.result()
        return result

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """httpx's trace hook: remembers the socket as soon as it is connected."""
        if event == "connection.connect_tcp.complete":
            self._connected(info["return_value"].get_extra_info("socket"))

    def _connected(self, connection: socket.socket) -> None:
        with self._lock:
            self._close()
            if self._over.is_set():
                _shut_down(connection)
            else:
                # A duplicate: it stays valid when TLS wraps the socket, and is never reused for another call.
                self._socket = connection.dup()

    def poll(self) -> None:
        """Cancels the call if its control says so or its deadline has passed."""
        try:
            if self._control.is_cancelled():
                self.cancel(Cancelled(f"The call to {self._where} was cancelled."))
            elif self.elapsed() >= self._control.deadline_seconds:
                self.cancel(self._timeout())
        except Exception as error:  # noqa: BLE001  from the caller's function, raised in the caller
            self.cancel(error)

    def _timeout(self) -> ProviderError:
        return ProviderError(
            ErrorKind.TIMEOUT,
            f"{self._where} did not complete its reply within {self._control.deadline_seconds:g} seconds. "
            "Try again, allow more time, or choose a smaller model.",
            retryable=True,
        )

    def cancel(self, reason: Exception) -> None:
        """Interrupts the call; its caller gets `reason` raised."""
        if self.reason is None:
            self.reason = reason
        self.end()

    def end(self) -> None:
        """Closes the call's connection; a server that is still writing stops."""
        with self._lock:
            self._over.set()
            self._close()
        self._awaited.cancel()

    def _close(self) -> None:
        if self._socket is not None:
            _shut_down(self._socket)
            self._socket.close()
            self._socket = None


def _shut_down(connection: socket.socket) -> None:
    """Interrupts reads and writes on the connection in all threads."""
    with suppress(OSError):  # closed already
        connection.shutdown(socket.SHUT_RDWR)


def _run(work: Callable[[], T], awaited: "Future[T]") -> None:
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001  raised in the waiting thread
        with suppress(InvalidStateError):
            awaited.set_exception(error)
        return
    try:
        awaited.set_result(result)
    except InvalidStateError:  # the call was cancelled
        result.close()


class CallWatcher:
    """Polls every call in progress a few times a second, in a thread that starts with the first call."""

    def __init__(self) -> None:
        self._calls: set[Call] = set()
        self._wanted = Event()
        self._lock = Lock()
        self._thread: Thread | None = None

    def add(self, call: Call) -> None:
        self._calls.add(call)
        self._wanted.set()
        with self._lock:
            if self._thread is None:
                self._thread = Thread(target=self._watch, daemon=True, name="call-watcher")
                self._thread.start()

    def remove(self, call: Call) -> None:
        self._calls.discard(call)

    def _watch(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            while self._calls:
                time.sleep(CHECK_SECONDS)
                for call in self._calls.copy():
                    call.poll()


_watcher = CallWatcher()
_current: ContextVar[Call] = ContextVar("call")


def current_call() -> Call:
    """The call that this thread is making; raises LookupError if there is none."""
    return _current.get()


@contextmanager
def calling(control: CallControl, where: str) -> Iterator[Call]:
    """Makes the block one cancellable call; `where` names the endpoint in error messages.

    When the call is cancelled or its deadline passes, requests inside the block fail within a second, and
    Cancelled or a timeout as ProviderError is raised instead of their error.

        with calling(control, "Ollama at http://127.0.0.1:11434") as call:
            response = client.get("models")
    """
    call = Call(control, where)
    call.poll()
    call.check()
    token = _current.set(call)
    try:
        _watcher.add(call)
        yield call
    except Exception as error:
        if call.reason is None or error is call.reason:
            raise
        raise call.reason from error
    finally:
        _watcher.remove(call)
        call.end()
        _current.reset(token)


def _reset_after_fork() -> None:
    """A forked process does not have its parent's watcher thread."""
    global _watcher
    _watcher = CallWatcher()


os.register_at_fork(after_in_child=_reset_after_fork)
