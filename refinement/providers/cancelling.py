"""Cancels model calls: one watcher thread per process shuts down the socket of each call that must end."""

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
    """One call of a model, from its start to its reply."""

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
        """Waits, unless the call is cancelled before."""
        self._over.wait(seconds)
        self.check()

    @contextmanager
    def holding(self, lock: Lock) -> Iterator[None]:
        """Holds the lock; the wait for it can be cancelled."""
        while not lock.acquire(timeout=CHECK_SECONDS):
            self.check()
        try:
            yield
        finally:
            lock.release()

    def run(self, work: Callable[[], T]) -> T:
        """What `work` returns. It runs in a thread: nothing interrupts a name lookup or a connect."""
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
                # A descriptor of its own: it stays valid under TLS, and is never another call's.
                self._socket = connection.dup()

    def look(self) -> None:
        """Cancels the call if its caller or its deadline says so."""
        try:
            if self._control.is_cancelled():
                self.cancel(Cancelled(f"The call to {self._where} was cancelled."))
            elif self.elapsed() >= self._control.deadline_seconds:
                self.cancel(self._timeout())
        except Exception as error:  # noqa: BLE001  the caller's own, and raised to the caller
            self.cancel(error)

    def _timeout(self) -> ProviderError:
        return ProviderError(
            ErrorKind.TIMEOUT,
            f"{self._where} gave no complete reply within {self._control.deadline_seconds:g} seconds. "
            "Try again, allow more time, or choose a smaller model.",
            retryable=True,
        )

    def cancel(self, reason: Exception) -> None:
        """Ends whatever the call waits for; `reason` is then raised to its caller."""
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
    """Ends all waiting on the connection, in whatever thread."""
    with suppress(OSError):  # closed already
        connection.shutdown(socket.SHUT_RDWR)


def _run(work: Callable[[], T], awaited: "Future[T]") -> None:
    try:
        result = work()
    except BaseException as error:  # noqa: BLE001  raised in the thread that waits
        with suppress(InvalidStateError):
            awaited.set_exception(error)
        return
    try:
        awaited.set_result(result)
    except InvalidStateError:  # nobody waits any more
        result.close()


class CallWatcher:
    """Looks at every call in progress a few times a second, in a thread that starts with the first call."""

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
                    call.look()


_watcher = CallWatcher()
_current: ContextVar[Call] = ContextVar("call")


def current_call() -> Call:
    """The call that this thread is making; LookupError if it makes none."""
    return _current.get()


@contextmanager
def calling(control: CallControl, where: str) -> Iterator[Call]:
    """Has the call inside watched; `where` names the endpoint in messages.

    Raises Cancelled, or a timeout as ProviderError, in place of whatever error the cancellation led to.
    """
    call = Call(control, where)
    call.look()
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


def _start_anew() -> None:
    """A forked process has none of its parent's threads."""
    global _watcher
    _watcher = CallWatcher()


os.register_at_fork(after_in_child=_start_anew)
