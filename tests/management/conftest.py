"""Runs the command as users do: in a separate process, with a data directory and a model server."""

import contextlib
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.house.processes import PATIENCE, ROOT, environment
from tests.loopback.fixtures import ollama_server
from tests.loopback.replies import Asked
from tests.loopback.server import Entry, LoopbackServer
from tests.migrated import migrated_directory

__all__ = ["ollama_server"]
MODELS = ("--producer", "ollama/loopback:1b", "--judge", "ollama/loopback:8b")


@pytest.fixture(scope="session")
def migrated() -> Path:
    """A data directory with an empty migrated database, to copy."""
    return migrated_directory()


def as_on_a_terminal() -> None:
    """Restores Ctrl-C: a test run in the background ignores it, and its children would, too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Refine:
    """Runs `manage.py refine` against one data directory and one model server."""

    def __init__(self, data_dir: Path, server: LoopbackServer) -> None:
        self.database = data_dir / "wiggum.sqlite3"
        self.server = server
        self.env = environment(data_dir, WIGGUM_OLLAMA_URL=server.address)
        self.processes: list[subprocess.Popen[str]] = []

    def start(self, *arguments: str, stdin: int = subprocess.DEVNULL) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "manage.py", "refine", *arguments],
            cwd=ROOT,
            env=self.env,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            preexec_fn=as_on_a_terminal,
        )
        self.processes.append(process)
        return process

    def __call__(self, *arguments: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
        process = self.start(*arguments, stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE)
        out, err = process.communicate(stdin, timeout=PATIENCE)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def says(self, *, slow: int | None = None, **lists: Sequence[str]) -> None:
        """Sets the models' replies in order; a request that got no complete reply is not counted.

        The reply to request number `slow` takes so long that a test can stop it in the middle.
        """

        def reply(asked: Asked) -> str:
            chats = self.server.chats
            self.server.chunk_delay = 30.0 if len(chats) == slow else 0.0
            answered = sum(1 for entry in chats if entry.role == asked.role and entry.finished)
            return lists[asked.role][answered]

        self.server.replies = reply

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        with contextlib.closing(sqlite3.connect(self.database)) as connection:
            return connection.execute(statement).fetchall()

    def reached(self, number: int) -> Entry:
        """Waits for the request with this number."""
        self.server.wait_for(lambda: len(self.server.chats) >= number, PATIENCE)
        return self.server.chats[number - 1]

    def clean_up(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.communicate()


@pytest.fixture
def refine(migrated: Path, tmp_path: Path, ollama_server: LoopbackServer) -> Iterator[Refine]:
    data_dir = tmp_path / "data"
    shutil.copytree(migrated, data_dir)
    command = Refine(data_dir, ollama_server)
    yield command
    command.clean_up()


def report_of(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(done.stdout)
    return parsed
