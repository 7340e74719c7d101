"""A ring ends a call's wait for its server, and cuts nobody else's line."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from refinement.providers import watch
from refinement.providers.alarm import Alarm
from refinement.providers.base import CallControl, Cancelled, ErrorKind, ProviderError
from refinement.providers.network import SlicedStream
from refinement.providers.watch import watching

LONG = 300.0
SOON = 60.0  # a wait that nobody ends lasts far longer


@pytest.fixture(autouse=True)
def long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody who has an alarm asks by themselves."""
    monkeypatch.setattr(watch, "ALARMED_SECONDS", LONG)


@pytest.fixture
def pair() -> Iterator[tuple[SlicedStream, socket.socket]]:
    ours, theirs = socket.socketpair()
    yield SlicedStream(ours), theirs
    ours.close()
    theirs.close()


def control(alarm: Alarm, seconds: float = 600.0) -> CallControl:
    return CallControl(seconds, is_cancelled=lambda: alarm.rung, alarm=alarm)


def ring_later(alarm: Alarm) -> threading.Timer:
    timer = threading.Timer(0.1, alarm.ring)
    timer.start()
    return timer


def test_a_ring_ends_a_wait_at_once(pair: tuple[SlicedStream, socket.socket]) -> None:
    stream, _ = pair
    alarm, began = Alarm(), time.monotonic()
    timer = ring_later(alarm)
    with pytest.raises(Cancelled), watching(control(alarm), "x"):
        stream.read(100)
    assert time.monotonic() - began < SOON
    timer.join()


def test_a_call_for_which_it_has_rung_does_not_wait(pair: tuple[SlicedStream, socket.socket]) -> None:
    stream, _ = pair
    alarm = Alarm()
    with watching(control(alarm), "x"):
        alarm.ring()
        with pytest.raises(Cancelled):
            stream.read(100)


def test_what_comes_is_read_and_the_line_is_left_alone_then(pair: tuple[SlicedStream, socket.socket]) -> None:
    stream, theirs = pair
    alarm = Alarm()
    theirs.sendall(b"one")
    with watching(control(alarm), "x"):
        assert stream.read(100) == b"one"
    alarm.ring()  # too late: the line may be another call's
    theirs.sendall(b"two")
    with watching(CallControl(alarm=Alarm()), "y"):
        assert stream.read(100) == b"two"


def test_a_line_that_the_server_closes_is_no_ring(pair: tuple[SlicedStream, socket.socket]) -> None:
    stream, theirs = pair
    theirs.close()
    with watching(control(Alarm()), "x"):
        assert stream.read(100) == b""


def test_the_deadline_is_kept_all_the_same(pair: tuple[SlicedStream, socket.socket]) -> None:
    stream, _ = pair
    began = time.monotonic()
    with pytest.raises(ProviderError) as caught, watching(control(Alarm(), 0.2), "x"):
        stream.read(100)
    assert caught.value.kind is ErrorKind.TIMEOUT
    assert time.monotonic() - began < SOON


def test_a_lock_that_an_interrupt_has_left_taken_holds_up_nobody() -> None:
    alarm = Alarm()
    alarm._lock.acquire()
    alarm.ring()
    assert alarm.rung
