"""Consumers are notified of messages from other processes on the machine, and poll otherwise."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connections

from refinement.broker import consumer as consuming
from refinement.broker.bell import Wakeups
from refinement.broker.consumer import FAST_POLL_SECONDS, POLL_SECONDS
from refinement.broker.doorbell import WakeSocket, wake_all, wake_folder, wake_socket_for

PATIENCE = 60.0


class Database:
    """As much of a connection as a door needs to know."""

    vendor = "sqlite"

    def __init__(self, path: Path, *, in_memory: bool = False) -> None:
        self.settings_dict = {"NAME": path}
        self.is_in_memory_db = lambda: in_memory


def test_a_ring_from_another_process_is_heard(tmp_path):
    bell, database = Wakeups(), Database(tmp_path / "wiggum.sqlite3")
    door = wake_socket_for(database, bell)
    folder = str(wake_folder(database))
    script = f"from refinement.broker.doorbell import wake_all, Path; wake_all(Path({folder!r}))"
    subprocess.run([sys.executable, "-c", script], check=True)
    assert bell.wait(0, PATIENCE)
    door.close()


def test_everybody_hears_it(tmp_path):
    bells = [Wakeups(), Wakeups(), Wakeups()]
    doors = [WakeSocket(tmp_path, bell) for bell in bells]
    wake_all(tmp_path)
    assert all(bell.wait(0, PATIENCE) for bell in bells)
    for door in doors:
        door.close()
    assert list(tmp_path.iterdir()) == []


def test_doors_of_the_dead_are_taken_away(tmp_path):
    abandoned = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    abandoned.bind(str(tmp_path / "1-killed"))
    abandoned.close()
    bell = Wakeups()
    door = WakeSocket(tmp_path, bell)
    wake_all(tmp_path)
    assert bell.wait(0, PATIENCE)
    assert [path.name.split("-")[0] for path in tmp_path.iterdir()] == [str(os.getpid())]
    door.close()


def test_a_door_that_nobody_answers_stops_nobody(tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as deaf:
        deaf.bind(str(tmp_path / "2-busy"))
        for _ in range(2_000):  # more than it can hold
            wake_all(tmp_path)
    assert (tmp_path / "2-busy").exists()


def test_ringing_where_nobody_lives_is_no_error(tmp_path):
    wake_all(tmp_path / "nowhere")


def test_a_closed_door_is_closed_once_and_for_all(tmp_path):
    door = WakeSocket(tmp_path, Wakeups())
    door.close()
    door.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "database",
    [
        Database(Path("anywhere"), in_memory=True),
        Database(Path("/proc/nobody/may/write/here/wiggum.sqlite3")),
        Database(Path("/tmp") / ("long" * 40) / "wiggum.sqlite3"),
    ],
    ids=["in memory", "not to be written", "too long a name"],
)
def test_who_can_have_no_door_has_none(database, monkeypatch):
    monkeypatch.setattr(Path, "mkdir", lambda *_, **__: None)
    assert wake_socket_for(database, Wakeups()) is None


def test_who_has_no_door_looks_more_often(broker, alias, monkeypatch):
    monkeypatch.setattr(consuming, "wake_socket_for", lambda *_: None)
    usual = FAST_POLL_SECONDS if connections[alias].vendor == "sqlite" else POLL_SECONDS
    assert broker.consume("default")._poll == usual


def test_a_message_of_another_process_wakes_at_once(tmp_path, broker, new_broker, monkeypatch):
    """Its consumer is not in the sender's process: only the door can tell it before its next look."""
    database = Database(tmp_path / "wiggum.sqlite3")
    monkeypatch.setattr(consuming, "wake_socket_for", lambda _, bell: wake_socket_for(database, bell))
    monkeypatch.setattr("refinement.broker.database.wake_folder", lambda _: wake_folder(database))
    consumer = broker.consume("default")
    elsewhere = new_broker()
    elsewhere._wake()
    assert broker.wakeups.wait(0, PATIENCE)
    consumer.close()
    assert elsewhere.wakeups.count() == 0
