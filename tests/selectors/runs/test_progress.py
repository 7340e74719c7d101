"""The progress of a run: stages of its round, rounds to come, time left."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from refinement.models import Event, Run
from refinement.selectors.runs.live.progress import minutes_words, progress_of, time_left
from refinement.selectors.runs.page import run_facts
from tests.views.runs.board_guide import under_way
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
GOES_ON = {
    "status": "running",
    "lease_owner": "worker",
    "outcome": "",
    "stop_reason": "",
    "finished_at": None,
}
NOW = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)


def at_work(project, step: str, number: int, **fields: object) -> Run:
    run = finished_run(project, ["7.15", "8.6"], **{**GOES_ON, **fields})
    Event.objects.create(run=run, kind="claimed", actor="worker", data={"step": step, "round": number})
    return run


def stages(run: Run) -> dict[str, str]:
    return {stage.key: stage.state for stage in progress_of(run_facts(run)).stages}


def test_the_stages_of_a_board_s_round(project):
    found = progress_of(run_facts(under_way(project)))
    assert [stage.title for stage in found.stages] == ["Write", "Check", "Judge", "Deliberate", "Merge"]
    judge = found.stages[2]
    assert (judge.state, judge.words, judge.share) == ("now", "2 of 3 in", 66)
    assert [entry.score for entry in found.board.judges] == ["8.20", "7.45", ""]
    assert (found.judging, found.writing) == (3, False)


def test_while_a_revision_is_written_the_rounds_to_come_are_known(project):
    run = at_work(project, "revise", 3)
    found = progress_of(run_facts(run))
    assert stages(run) == {"write": "now", "check": "next", "judge": "next"}
    assert found.writing
    assert [(entry.number, entry.words, entry.now) for entry in found.coming] == [(3, "being written", True)]
    assert found.best == "Best so far: round 2 with 8.60, 0.40 below the pass mark of 9"
    assert found.kept == "2 judged rounds are kept. Round 2 (8.60) is the result."


@pytest.mark.parametrize("status", ["queued", "paused"])
def test_a_run_that_waits_has_no_stage_that_goes_on(project, status):
    run = at_work(project, "revise", 3, status=status, lease_owner="")
    assert set(stages(run).values()) == {"next"}
    assert not progress_of(run_facts(run)).writing


def test_the_time_left_is_a_range_from_the_rounds_before(project):
    state = replace(progress_of(run_facts(at_work(project, "revise", 2))).state, since=NOW)
    spans = {1: (NOW - timedelta(minutes=5), NOW - timedelta(minutes=2))}
    assert time_left({}, state, NOW) is None
    left = time_left(spans, state, NOW)  # two more rounds of three minutes at most
    assert (left.words, left.basis) == ("3 to 6 min", "left, estimated from round 1")
    # The round's first call is not recorded before it ends: the step's start counts.
    later = replace(state, since=NOW - timedelta(minutes=2))
    assert time_left(spans, later, NOW).words == "1 to 4 min"
    late = time_left(spans, replace(state, since=NOW - timedelta(minutes=5)), NOW)
    assert (late.words, late.basis) == ("Longer than usual", "a round usually takes 3 m 0 s")


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(0, 59, "about 1 min"), (20, 100, "up to 2 min"), (120, 120, "about 2 min"), (70, 300, "1 to 5 min")],
)
def test_minutes(low, high, words):
    assert minutes_words(low, high) == words
