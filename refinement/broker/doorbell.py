"""Wakes consumers of other processes on the same machine, with datagrams to Unix sockets.

SQLite has no notifications, and polling dozens of times a second kept idle workers busy. The sender of a
message sends a datagram to every socket in a folder next to the database. A missed one costs a poll.
"""

import os
import socket
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

from refinement.broker.bell import Wakeups

WAKE, CLOSE = b"wake", b"close"


def wake_folder(connection: Any) -> Path | None:
    """The folder of the wake sockets of a database's consumers, or None if not supported."""
    if connection.vendor != "sqlite" or connection.is_in_memory_db() or not hasattr(socket, "AF_UNIX"):
        return None
    return Path(connection.settings_dict["NAME"]).resolve().parent / "bells"


def wake_all(folder: Path) -> None:
    """Send a datagram to every socket, and delete those of dead processes."""
    try:
        paths = list(folder.iterdir())
    except OSError:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        out.setblocking(False)
        for path in paths:
            try:
                out.sendto(WAKE, str(path))
            except ConnectionRefusedError:
                with suppress(OSError):
                    path.unlink()
            except OSError:
                continue  # its buffer is full, or it was just closed


class WakeSocket:
    """A consumer's wake socket, and the thread that listens on it."""

    def __init__(self, folder: Path, wakeups: Wakeups) -> None:
        """Raises OSError if the socket cannot be created, such as for a very long path."""
        self._wakeups = wakeups
        self._path = folder / f"{os.getpid()}-{uuid4().hex[:8]}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            self._socket.bind(str(self._path))
        except OSError:
            self._socket.close()
            raise
        Thread(target=self._listen, name="wake-socket", daemon=True).start()

    def _listen(self) -> None:
        with self._socket:
            while self._socket.recv(16) != CLOSE:
                self._wakeups.notify()

    def close(self) -> None:
        """Stop the thread and delete the socket."""
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
            out.sendto(CLOSE, str(self._path))
        with suppress(OSError):
            self._path.unlink()


def wake_socket_for(connection: Any, wakeups: Wakeups) -> WakeSocket | None:
    """A wake socket for a consumer of this database, or None if it has to poll."""
    folder = wake_folder(connection)
    if folder is None:
        return None
    with suppress(OSError):
        return WakeSocket(folder, wakeups)
    return None
