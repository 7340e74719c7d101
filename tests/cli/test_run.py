"""`wiggum run`: list, show, watch, steer, export."""

import csv
import io
import json

import pytest

from refinement.cli import watching
from refinement.models import Round, Run
from refinement.services.runs.lifecycle import run_cancel
from tests.cli.conftest import told
from tests.views.runs.finished import finished_run
from tests.views.runs.listed import runs_of


@pytest.fixture
def judged(project):
    """A finished run with a judged round and a text that would colour a terminal."""
    (run,) = runs_of(
        project, 1, title="Explain \x1b[31mbackups", best_round=1, rounds_judged=1, trajectory=["6.5"]
    )
    Round.objects.create(
        run=run, number=1, origin="draft", candidate="Backups run at night.", candidate_chars=21,
        composite="6.5", scores={"depth": "6.5"}, judged_at=run.finished_at,
    )  # fmt: skip
    return run


def test_the_list_is_newest_first_and_narrowed(wiggum, project):
    runs_of(project, 2, outcome="PASS", tags=("nightly",))
    runs_of(project, 1, status="running")
    runs = told(wiggum("run", "list", "--json"))["runs"]
    assert [line["status"] for line in runs] == ["running", "finished", "finished"]
    assert [line["run"] for line in runs] == sorted((line["run"] for line in runs), reverse=True)
    line = runs[-1]
    assert (line["rubric"], line["judge"], line["best"], line["composites"]) == (
        "listed@1", "ollama/gemma3:27b", 6.0, [5.0, 6.0],
    )  # fmt: skip
    assert len(told(wiggum("run", "list", "--outcome", "PASS", "--json"))["runs"]) == 2
    assert len(told(wiggum("run", "list", "--tag", "nightly", "--limit", 1, "--json"))["runs"]) == 1
    assert (
        len(told(wiggum("run", "list", "--status", "running", "--rubric", "listed", "--json"))["runs"]) == 1
    )
    assert told(wiggum("run", "list", "--since", "2999-01-01", "--json")) == {"runs": []}
    assert wiggum("run", "list", "--since", "yesterday").exit_code == 2


def test_a_table_for_people_without_anybodys_control_characters(wiggum, judged):
    out = wiggum("run", "list", color=True).stdout
    assert "FAIL" in out
    assert "Explain �[31mbackups" in out


def test_colours_are_ours_alone_and_can_be_switched_off(wiggum, judged, monkeypatch):
    watched = wiggum("run", "watch", judged.pk, color=True).stderr
    assert "\x1b[33mFAIL\x1b[0m" in watched
    assert "�" not in watched
    assert "\x1b" not in wiggum("run", "watch", judged.pk).stderr
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in wiggum("run", "watch", judged.pk, color=True).stderr


def test_a_run_in_words_and_whole(wiggum, judged):
    shown = wiggum("run", "show", judged.pk).stdout
    assert f"Run {judged.pk} · FAIL · best 6.00 in round 1" in shown
    assert "1 (best)  6.50   6.50" in shown
    report = told(wiggum("run", "show", judged.pk, "--json"))
    assert report["best_candidate"] == "Backups run at night."
    (entry,) = report["rounds"]
    assert (entry["round"], entry["composite"], entry["scores"]) == (1, 6.5, {"depth": 6.5})


def test_a_watched_run_is_told_to_its_end(wiggum, project, monkeypatch):
    (run,) = runs_of(project, 1, status="running", rounds_judged=0, trajectory=[])
    changes = [
        {"trajectory": ["5"], "rounds_judged": 1},
        {"status": "waiting", "waiting_for": "Ollama is away", "next_try_at": run.created_at},
        {"status": "finished", "outcome": "FAIL", "stop_reason": "max_rounds", "why": "All used.",
         "next_try_at": None, "waiting_for": "", "finished_at": run.created_at},
    ]  # fmt: skip
    monkeypatch.setattr(
        watching.time, "sleep", lambda _: Run.objects.filter(pk=run.pk).update(**changes.pop(0))
    )
    result = wiggum("run", "watch", run.pk, "--json")
    assert result.exit_code == 1
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["status"] for line in lines] == ["running", "running", "waiting", "finished"]
    assert [line["composites"] for line in lines] == [[], [5.0], [5.0], [5.0]]
    words = wiggum("run", "watch", run.pk)
    assert (words.exit_code, "round 1: 5.00" in words.stderr, words.stdout) == (1, True, "")


@pytest.mark.parametrize(("outcome", "code"), [("PASS", 0), ("DONE", 0), ("ERROR", 3), ("CANCELLED", 130)])
def test_the_outcome_is_the_watchs_exit_status(wiggum, project, outcome, code):
    (run,) = runs_of(project, 1, outcome=outcome)
    assert wiggum("run", "watch", run.pk).exit_code == code


def test_runs_are_steered(wiggum, project):
    first, second = runs_of(project, 2, status="queued")
    paused = told(wiggum("run", "pause", first.pk, second.pk, "--json"))["runs"]
    assert [line["status"] for line in paused] == ["paused", "paused"]
    assert told(wiggum("run", "resume", first.pk, "--json"))["runs"][0]["status"] == "queued"
    assert wiggum("run", "cancel", second.pk).exit_code == 0
    second.refresh_from_db()
    assert (second.status, second.outcome) == ("finished", "CANCELLED")
    refused = wiggum("run", "cancel", second.pk)
    assert (refused.exit_code, "it cannot be stopped" in refused.stderr) == (4, True)
    Run.objects.filter(pk=second.pk).update(outcome="ERROR")
    assert wiggum("run", "retry", second.pk).exit_code == 0


def test_one_run_as_a_file(wiggum, judged, tmp_path):
    whole = json.loads(wiggum("run", "export", judged.pk).stdout)
    assert (whole["run"]["id"], whole["rounds"][0]["candidate"]) == (judged.pk, "Backups run at night.")
    assert wiggum("run", "export", judged.pk, "--format", "txt").stdout == "Backups run at night."
    report = tmp_path / "report.md"
    said = told(wiggum("run", "export", judged.pk, "--format", "md", "--out", report, "--json"))
    assert (said["bytes"], "Backups run at night." in report.read_text()) == (report.stat().st_size, True)
    assert list(tmp_path.iterdir()) == [report]


def test_many_runs_as_a_file(wiggum, project):
    runs_of(project, 2, outcome="PASS")
    runs_of(project, 1)
    lines = wiggum("run", "export", "--outcome", "PASS").stdout.splitlines()
    assert len(lines) == 2
    assert wiggum("run", "export", "--format", "csv").stdout.count("A task") == 3


def test_what_runs_teach_as_a_file(wiggum, project, tmp_path):
    run = finished_run(project, ("7", "8.5", "9"), outcome="PASS", tags=["ci"])
    finished_run(project, ("6", "6.2"))

    def lines(*arguments):
        return [json.loads(line) for line in wiggum("run", "export", *arguments).stdout.splitlines()]

    (text,) = lines("--format", "sft")
    assert (text["run"], text["round"], text["score"]) == (run.pk, 3, 9)
    assert lines("--format", "sft", "--least", "9.5") == []
    assert len(lines("--format", "pairs")) == 4
    assert len(lines("--format", "pairs", "--least", "1", "--tag", "ci")) == 2
    assert len(lines(run.pk, "--format", "pairs", "--least", "0.5", "--with-imported")) == 3
    out = tmp_path / "pairs.jsonl"
    said = told(wiggum("run", "export", "--format", "pairs", "--out", out, "--json"))
    assert (said["format"], said["bytes"]) == ("pairs", out.stat().st_size)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("export", "999999", "--format", "sft"), 4, "run 999999 does not exist"),
        (("export", "--least", "8"), 2, "are for --format sft and --format pairs"),
        (("export", "--format", "sft", "--least", "high"), 2, "is not a score"),
        (("show", "999999"), 4, "run 999999 does not exist"),
        (("cancel", "999999"), 4, "run 999999 does not exist"),
        (("watch", "999999"), 4, "run 999999 does not exist"),
        (("export", "999999"), 4, "run 999999 does not exist"),
        (("show", "seven"), 2, "not a valid"),
        (("export", "1", "--format", "csv"), 2, "one run is exported as json or md or txt"),
        (("export", "--format", "txt"), 2, "many runs are exported as jsonl or csv"),
        (("export", "1", "--tag", "x"), 2, "cannot be combined"),
        (("export", "1", "--json"), 2, "--json requires --out"),
    ],
)
def test_what_cannot_be_done_is_said(wiggum, project, arguments, code, words):
    result = wiggum("run", *arguments)
    assert (result.exit_code, words in result.stderr) == (code, True), result.stderr


def test_a_run_of_another_project_is_not_there(wiggum, other_project):
    (theirs,) = runs_of(other_project, 1)
    assert wiggum("run", "show", theirs.pk, "--project", "alpha").exit_code == 4


def test_a_run_without_a_judged_round_has_no_text(wiggum, project):
    (run,) = runs_of(project, 1, status="running", best_round=None, rounds_judged=0, trajectory=[])
    run_cancel(run=run)
    assert wiggum("run", "export", run.pk, "--format", "txt").exit_code == 4


def test_runs_of_a_task_type(wiggum, project):
    runs_of(project, task_type="research")
    [guide] = runs_of(project, task_type="how-to", outcome="PASS", passed_in_round=1)
    (line,) = told(wiggum("run", "list", "--task-type", "How-To", "--json"))["runs"]
    assert (line["run"], line["task_type"], line["passed_in_round"]) == (guide.pk, "how-to", 1)
    assert "Task type: how-to" in wiggum("run", "show", guide.pk).stdout
    exported = wiggum("run", "export", "--format", "csv", "--task-type", "how-to").stdout
    assert [row["run"] for row in csv.DictReader(io.StringIO(exported))] == [str(guide.pk)]
