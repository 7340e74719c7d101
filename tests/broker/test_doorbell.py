"""Consumers hear of what another process on their machine has sent, or look for themselves."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connections

from refinement.broker import consumer as consuming
from refinement.broker.bell import Bell
from refinement.broker.consumer import DEAF_POLL_SECONDS, POLL_SECONDS
from refinement.broker.doorbell import Door, door_for, doors_of, ring_at

PATIENCE = 60.0


class Database:
    """As much of a connection as a door needs to know."""

    vendor = "sqlite"

    def __init__(self, path: Path, *, in_memory: bool = False) -> None:
        self.settings_dict = {"NAME": path}
        self.is_in_memory_db = lambda: in_memory


def test_a_ring_from_another_process_is_heard(tmp_path):
    bell, database = Bell(), Database(tmp_path / "wiggum.sqlite3")
    door = door_for(database, bell)
    script = (
        f"from refinement.broker.doorbell import ring_at, Path; ring_at(Path({str(doors_of(database))!r}))"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    assert bell.wait(0, PATIENCE)
    door.close()


def test_everybody_hears_it(tmp_path):
    bells = [Bell(), Bell(), Bell()]
    doors = [Door(tmp_path, bell) for bell in bells]
    ring_at(tmp_path)
    assert all(bell.wait(0, PATIENCE) for bell in bells)
    for door in doors:
        door.close()
    assert list(tmp_path.iterdir()) == []


def test_doors_of_the_dead_are_taken_away(tmp_path):
    abandoned = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    abandoned.bind(str(tmp_path / "1-killed"))
    abandoned.close()
    bell = Bell()
    door = Door(tmp_path, bell)
    ring_at(tmp_path)
    assert bell.wait(0, PATIENCE)
    assert [path.name.split("-")[0] for path in tmp_path.iterdir()] == [str(os.getpid())]
    door.close()


def test_a_door_that_nobody_answers_stops_nobody(tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as deaf:
        deaf.bind(str(tmp_path / "2-busy"))
        for _ in range(2_000):  # more than it can hold
            ring_at(tmp_path)
    assert (tmp_path / "2-busy").exists()


def test_ringing_where_nobody_lives_is_no_error(tmp_path):
    ring_at(tmp_path / "nowhere")


def test_a_closed_door_is_closed_once_and_for_all(tmp_path):
    door = Door(tmp_path, Bell())
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
    assert door_for(database, Bell()) is None


def test_who_has_no_door_looks_more_often(broker, alias, monkeypatch):
    monkeypatch.setattr(consuming, "door_for", lambda *_: None)
    usual = DEAF_POLL_SECONDS if connections[alias].vendor == "sqlite" else POLL_SECONDS
    assert broker.consume("default")._poll == usual


def test_a_message_of_another_process_wakes_at_once(tmp_path, broker, new_broker, monkeypatch):
    """Its consumer is not in the sender's process: only the door can tell it before its next look."""
    database = Database(tmp_path / "wiggum.sqlite3")
    monkeypatch.setattr(consuming, "door_for", lambda _, bell: door_for(database, bell))
    monkeypatch.setattr("refinement.broker.database.doors_of", lambda _: doors_of(database))
    consumer = broker.consume("default")
    elsewhere = new_broker()
    elsewhere._tell()
    assert broker.bell.wait(0, PATIENCE)
    consumer.close()
    assert elsewhere.bell.rings() == 0
