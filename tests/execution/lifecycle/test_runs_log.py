"""The runs log: a complete line for each ended run, with many processes, and never at a run's expense."""

import json
import logging
import multiprocessing
import os
from pathlib import Path

import pytest

from refinement.models import Run
from refinement.services.runs.lifecycle import run_cancel, run_retry
from refinement.services.runs.log import append_line
from tests.execution.lifecycle.given import Scene, advance

pytestmark = pytest.mark.django_db(transaction=True)
PROCESSES, LINES = 4, 30
LONG = 300_000  # more than a pipe or a page takes in one write


@pytest.fixture
def file(tmp_path, settings) -> Path:
    settings.RUNS_LOG = tmp_path / "runs.jsonl"
    return settings.RUNS_LOG


def lines(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_run_that_ends_is_one_line_with_its_task_and_rubric(scene: Scene, file):
    scene.says(5, 9.5)
    run = scene.launch(task_type="Research")
    advance(run)
    (line,) = lines(file)
    assert (line["run"], line["final"], line["passed_in_round"]) == (run.pk, "PASS", 2)
    assert (line["task"], line["task_type"]) == (run.task, "research")
    assert (line["rubric"], line["rubric_version"]) == (run.rubric.slug, 1)
    assert (line["wiggum_rounds"], line["wiggum_scores"]["r2"]["depth"]) == (2, 9.5)
    assert file.stat().st_mode & 0o777 == 0o600  # a task may be confidential


def test_nothing_is_written_before_the_end(scene: Scene, file):
    scene.says(5, 9.5)
    run = scene.launch()
    advance(run, steps=1)
    assert (run.rounds_judged, file.exists()) == (1, False)


def test_without_a_log_nothing_is_written(scene: Scene, file, settings):
    settings.RUNS_LOG = None
    scene.says(9.5)
    advance(scene.launch())
    assert not file.exists()


def test_errors_and_cancelled_runs_are_lines_too(scene: Scene, file):
    scene.says(*["no scores"] * 9)
    failed = scene.launch()
    advance(failed)
    run_cancel(run=scene.launch())
    assert [line["final"] for line in lines(file)] == ["ERROR", "CANCELLED"]
    scene.says(9.5)
    run_retry(run=failed)
    advance(failed)
    assert [(line["run"], line["final"]) for line in lines(file)][2:] == [(failed.pk, "PASS")]


def test_a_log_that_cannot_be_written_is_told_once_and_fails_no_run(scene: Scene, file, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("wiggum"), "propagate", True)
    file.mkdir()
    scene.says(9.5, 9.5, 9.5)
    for _ in range(2):
        run = scene.launch()
        advance(run)
        assert run.outcome == "PASS"
    (record,) = [entry for entry in caplog.records if entry.name == "wiggum.runs_log"]
    assert (record.levelname, str(file) in record.getMessage()) == ("WARNING", True)
    file.rmdir()
    advance(scene.launch())
    assert len(lines(file)) == 1
    assert Run.objects.filter(outcome="PASS").count() == 3


def append_many(file: Path, letter: str) -> None:
    for _ in range(LINES):
        append_line(file, letter.encode() * LONG + b"\n")


def test_lines_of_many_processes_stay_whole(file):
    spawning = multiprocessing.get_context("fork")
    letters = "abcdefgh"[:PROCESSES]
    writers = [spawning.Process(target=append_many, args=(file, letter)) for letter in letters]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    written = file.read_text().splitlines()
    assert sorted(written) == sorted(letter * LONG for letter in letters for _ in range(LINES))


def test_half_a_line_of_a_killed_process_spoils_only_itself(file):
    file.write_bytes(b'{"run": 1}\n{"run": 2, "ti')
    append_line(file, b'{"run": 3}\n')
    assert file.read_bytes() == b'{"run": 1}\n{"run": 2, "ti\n{"run": 3}\n'


def test_a_full_disk_leaves_no_half_of_a_line(file, monkeypatch):

    file.write_bytes(b'{"run": 1}\n')
    write = os.write

    def full(descriptor: int, data: memoryview) -> int:
        if len(data) < 8:
            raise OSError(28, "No space left on device")
        return write(descriptor, data[:4])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        append_line(file, b'{"run": 2}\n')
    assert file.read_bytes() == b'{"run": 1}\n'
