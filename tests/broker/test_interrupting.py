"""A stopping worker interrupts running actors, and no finished ones."""

import threading

import pytest
from dramatiq.middleware import Shutdown
from dramatiq.middleware.threading import raise_thread_exception

from refinement.broker.interrupting import (
    interrupt_all,
    is_stopping,
    uninterrupted,
    work_begins,
    work_is_done,
    worker_starts,
)

PATIENCE = 60


class Worker(threading.Thread):
    """Works until it is released, and then for a while longer."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.at_work, self.enough, self.is_done, self.over = (threading.Event() for _ in range(4))
        self.interrupted = ""

    def run(self) -> None:
        try:
            work_begins()
            self.at_work.set()
            while not self.enough.wait(0.005):
                pass
            work_is_done()
            self.is_done.set()
            while not self.over.wait(0.005):
                pass
        except Shutdown:
            self.interrupted = "done" if self.is_done.is_set() else "at work"
            work_is_done()


def interrupt() -> None:
    """As a worker that stops; another one may start in this process afterwards."""
    interrupt_all(lambda thread_id: raise_thread_exception(thread_id, Shutdown))
    worker_starts()


def test_who_is_at_work_is_interrupted():
    worker = Worker()
    worker.start()
    assert worker.at_work.wait(PATIENCE)
    interrupt()
    worker.join(PATIENCE)
    assert worker.interrupted == "at work"


def test_who_is_done_is_left_alone():
    worker = Worker()
    worker.start()
    worker.enough.set()
    assert worker.is_done.wait(PATIENCE)
    interrupt()
    worker.over.set()
    worker.join(PATIENCE)
    assert worker.interrupted == ""


def test_an_interrupt_never_comes_after_the_work_is_done():
    """Many threads that are done just when they are to be interrupted."""
    for _ in range(40):
        workers = [Worker() for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            assert worker.at_work.wait(PATIENCE)
        for worker in workers:
            worker.enough.set()
        interrupt()
        for worker in workers:
            worker.over.set()
            worker.join(PATIENCE)
        assert {worker.interrupted for worker in workers} <= {"", "at work"}


def test_it_stops_only_once_all_have_their_interrupt():
    """A thread that sees the worker stop has already got its interrupt."""
    seen: list[bool] = []
    work_begins()
    try:
        interrupt_all(lambda thread_id: seen.append(is_stopping()))
        assert is_stopping()
    finally:
        worker_starts()
        work_is_done()
    assert seen == [False]


def test_nobody_begins_while_the_worker_stops():
    interrupt_all(lambda thread_id: None)
    try:
        assert is_stopping()
        assert not work_begins()
    finally:
        worker_starts()
    assert not is_stopping()


def test_who_was_left_alone_finds_out_afterwards():
    interrupted: list[int] = []
    assert work_begins()
    try:
        with pytest.raises(Shutdown), uninterrupted():
            interrupt_all(interrupted.append)
    finally:
        worker_starts()
        work_is_done()
    assert interrupted == []


def test_outside_of_a_worker_nothing_stops_anybody():
    try:
        with uninterrupted():
            interrupt_all(lambda thread_id: None)
    finally:
        worker_starts()
