"""Runs `wiggum eval` as users do: in a separate process, on a folder of files, with a model server."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.house.processes import PATIENCE, ROOT, environment
from tests.loopback.fixtures import ollama_server
from tests.loopback.server import LoopbackServer
from tests.management.conftest import as_on_a_terminal, migrated

__all__ = ["migrated", "ollama_server"]


class Eval:
    """Runs the command in one folder, on one database."""

    def __init__(self, folder: Path, data_dir: Path) -> None:
        self.folder = folder
        self.database = data_dir / "wiggum.sqlite3"
        self.env = environment(data_dir, PYTHONPATH=str(ROOT))
        self.processes: list[subprocess.Popen[str]] = []

    def write(self, name: str, text: str, *, executable: bool = False) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if executable:
            path.chmod(0o755)
        return path

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-m", "refinement.cli", "eval", *arguments],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            preexec_fn=as_on_a_terminal,
        )
        self.processes.append(process)
        return process

    def __call__(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        process = self.start(*arguments)
        out, err = process.communicate(timeout=PATIENCE)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def results(self, folder: str = "wiggum-eval") -> dict[str, dict[str, Any]]:
        """The results by case."""
        lines = (self.folder / folder / "results.jsonl").read_text("utf-8").splitlines()
        return {entry["case"]: entry for entry in map(json.loads, lines)}

    def clean_up(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
            process.communicate()


@pytest.fixture
def evals(migrated: Path, tmp_path: Path) -> Iterator[Eval]:
    data_dir = tmp_path / "data"
    shutil.copytree(migrated, data_dir)
    folder = tmp_path / "work"
    folder.mkdir()
    command = Eval(folder, data_dir)
    yield command
    command.clean_up()


def target_of(server: LoopbackServer, **more: object) -> str:
    """A targets file with this server as `served`."""
    target = {"name": "served", "kind": "ollama", "url": server.address, "model": "loopback:1b", **more}
    return json.dumps({"targets": [target]})
