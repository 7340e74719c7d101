"""The worker process: heartbeats while it runs, none afterwards, and nothing lost if it is killed."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from tests.house.processes import PATIENCE, ROOT, environment, manage, wait_for


def beats(directory):
    with closing(sqlite3.connect(directory / "wiggum.sqlite3")) as connection:
        return connection.execute("SELECT name, threads FROM refinement_workerbeat").fetchall()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_beats_while_it_runs_and_leaves_in_good_order(migrated_dir, number):
    process = subprocess.Popen(
        [sys.executable, "manage.py", "worker", "--threads", "3"],
        cwd=ROOT,
        env=environment(migrated_dir),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        ((name, threads),) = wait_for(lambda: beats(migrated_dir), "the worker's sign of life")
        assert threads == 3
        assert f":{process.pid}:" in name
        os.kill(process.pid, number)
        _, complaint = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, complaint) == (0, "")
    assert beats(migrated_dir) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--threads", "0"], "at least one thread"), (["--queues", "nowhere"], "no queue named nowhere")],
)
def test_what_it_cannot_do_is_said(migrated_dir, arguments, words):
    result = manage("worker", *arguments, env=environment(migrated_dir))
    assert result.returncode == 1
    assert words in result.stderr
    assert "Traceback" not in result.stderr
