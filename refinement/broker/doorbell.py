"""How processes on one machine wake each other: a datagram to a socket beside the database.

SQLite tells nobody that it has changed, and looking dozens of times a second was nearly all that an idle
worker did. Whoever sends a message rings at every door in the folder; a ring that is missed costs a poll.
"""

import os
import socket
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

from refinement.broker.bell import Bell

RING, CLOSE = b"ring", b"close"


def doors_of(connection: Any) -> Path | None:
    """Where the doors of a database's consumers are; None where there are none to ring at."""
    if connection.vendor != "sqlite" or connection.is_in_memory_db() or not hasattr(socket, "AF_UNIX"):
        return None
    return Path(connection.settings_dict["NAME"]).resolve().parent / "bells"


def ring_at(doors: Path) -> None:
    """Rings at every door; those of processes that are no more are taken away."""
    try:
        paths = list(doors.iterdir())
    except OSError:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        out.setblocking(False)
        for path in paths:
            try:
                out.sendto(RING, str(path))
            except ConnectionRefusedError:
                with suppress(OSError):
                    path.unlink()
            except OSError:
                continue  # it has rung so often that it is full, or has just gone


class Door:
    """One consumer's door, and the thread that hears it ring."""

    def __init__(self, doors: Path, bell: Bell) -> None:
        """Raises OSError where no socket can be made, such as in a folder with a very long name."""
        self._bell = bell
        self._path = doors / f"{os.getpid()}-{uuid4().hex[:8]}"
        doors.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            self._socket.bind(str(self._path))
        except OSError:
            self._socket.close()
            raise
        Thread(target=self._hear, name="doorbell", daemon=True).start()

    def _hear(self) -> None:
        with self._socket:
            while self._socket.recv(16) != CLOSE:
                self._bell.ring()

    def close(self) -> None:
        """Once and for all."""
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
            out.sendto(CLOSE, str(self._path))
        with suppress(OSError):
            self._path.unlink()


def door_for(connection: Any, bell: Bell) -> Door | None:
    """A door for a consumer of this database; None where it must look for itself."""
    doors = doors_of(connection)
    if doors is None:
        return None
    with suppress(OSError):
        return Door(doors, bell)
    return None
