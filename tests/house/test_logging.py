"""The log: one line per record, from the configured level on."""

import json
import re
import subprocess
import sys

import pytest

from tests.house.processes import PATIENCE, ROOT, environment, manage, wait_for
from tests.loopback.fixtures import ollama_server
from tests.loopback.replies import from_lists

__all__ = ["ollama_server"]
LINE = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (\w+) ([\w.]+): (.*)$"
SAY = """
import logging
logging.getLogger("wiggum.trial").debug("a detail")
logging.getLogger("wiggum.trial").info("first\\n2026-01-01 00:00:00,000 INFO wiggum.steps: forged")
logging.getLogger("elsewhere").info("chatter")
logging.getLogger("elsewhere").warning("trouble")
logging.getLogger("django.request").error("broken")
"""


def said(data_dir, **settings):
    result = manage("shell", "--no-imports", "-c", SAY, env=environment(data_dir, **settings))
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""
    return [re.match(LINE, line).groups() for line in result.stderr.splitlines()]


def test_our_own_from_info_and_others_from_warning(data_dir):
    assert said(data_dir) == [
        ("INFO", "wiggum.trial", r"first\n2026-01-01 00:00:00,000 INFO wiggum.steps: forged"),
        ("WARNING", "elsewhere", "trouble"),
        ("ERROR", "django.request", "broken"),
    ]


@pytest.mark.parametrize(("level", "ours"), [("debug", ["DEBUG", "INFO"]), ("WARNING", [])])
def test_the_level_of_our_own_can_be_chosen(data_dir, level, ours):
    lines = said(data_dir, WIGGUM_LOG_LEVEL=level)
    assert [line[0] for line in lines if line[1] == "wiggum.trial"] == ours
    assert ("WARNING", "elsewhere", "trouble") in lines


@pytest.mark.parametrize(
    ("name", "value", "word"),
    [
        ("WIGGUM_LOG_LEVEL", "loud", "'LOUD' is not a log level; use one of DEBUG,"),
        ("WIGGUM_METRICS_TOKEN", "short", "shorter than 16 characters"),
    ],
)
def test_a_bad_value_is_said_in_one_line(data_dir, name, value, word):
    result = manage("check", env=environment(data_dir, **{name: value}))
    assert result.returncode != 0
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith(f"wiggum: invalid setting {name}: ")
    assert word in line


def test_a_worker_says_one_line_for_each_step(migrated_dir, tmp_path, ollama_server):
    settings = environment(migrated_dir, WIGGUM_OLLAMA_URL=ollama_server.address)
    verdict = {
        "depth": 9.5,
        "relevance": 9.5,
        "completeness": 9.5,
        "grounded": 9.5,
        "specificity": 9.5,
        "structure": 9.5,
        "issues": [],
    }
    ollama_server.replies = from_lists({"producer": ["# A guide"], "judge": [json.dumps(verdict)]})
    arguments = ["--rubric", "wiggum", "--task", "Write a guide.", "--detach"]
    models = ["--producer", "ollama/loopback:1b", "--judge", "ollama/loopback:8b"]
    queued = manage("refine", *arguments, *models, env=settings)
    assert queued.returncode == 0, queued.stderr
    run = queued.stdout.strip()
    log = tmp_path / "log"
    with log.open("w") as stream:
        worker = subprocess.Popen(
            [sys.executable, "manage.py", "worker", "--threads", "1"], cwd=ROOT, env=settings, stderr=stream
        )
    try:
        wait_for(lambda: "role=finish" in log.read_text(), "the run's last step in the log")
        worker.terminate()
        worker.wait(PATIENCE)
    finally:
        worker.kill()
        worker.wait()
    lines = [re.match(LINE, line).groups() for line in log.read_text().splitlines()]
    steps = [message for level, name, message in lines if (level, name) == ("INFO", "wiggum.steps")]
    assert [re.search(r"role=(\w+)", step)[1] for step in steps] == ["producer", "judge", "finish"]
    assert all(f"run={run} " in step and "seconds=" in step for step in steps)
