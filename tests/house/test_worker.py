"""The worker process: signs of life while it runs, none when it has left, and nothing lost when killed."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.house.processes import PATIENCE, ROOT, environment, manage, wait_for

BEATS = (
    "import json; from refinement.models import WorkerBeat; "
    "print(json.dumps(list(WorkerBeat.objects.values('name', 'threads', 'version'))))"
)


@pytest.fixture
def migrated(data_dir):
    settings = environment(data_dir)
    result = manage("migrate", env=settings)
    assert result.returncode == 0, result.stderr
    return settings


def beats(settings):
    return json.loads(manage("shell", "--no-imports", "-c", BEATS, env=settings).stdout or "[]")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_beats_while_it_runs_and_leaves_in_good_order(migrated, number):
    process = subprocess.Popen(
        [sys.executable, "manage.py", "worker", "--threads", "3"],
        cwd=ROOT,
        env=migrated,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        (beat,) = wait_for(lambda: beats(migrated), "the worker's sign of life")
        assert beat["threads"] == 3
        assert f":{process.pid}:" in beat["name"]
        os.kill(process.pid, number)
        _, complaint = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, complaint) == (0, "")
    assert beats(migrated) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--threads", "0"], "at least one thread"), (["--queues", "nowhere"], "no queue named nowhere")],
)
def test_what_it_cannot_do_is_said(migrated, arguments, words):
    result = manage("worker", *arguments, env=migrated)
    assert result.returncode == 1
    assert words in result.stderr
    assert "Traceback" not in result.stderr
