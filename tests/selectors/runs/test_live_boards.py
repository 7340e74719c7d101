"""A board at work, in words: who has answered, whom the run waits for, and what the clerk does."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.models import BoardVerdict, Event, PanelJudge, Round, Run
from refinement.selectors.runs.boards.live import live_board
from refinement.selectors.runs.live.page import live_states
from tests.views.runs.board_guide import at_plateau, under_way
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
GOES_ON = {
    "status": "running", "outcome": "", "stop_reason": "", "finished_at": None, "lease_owner": "a worker",
}  # fmt: skip


def state(run):
    return live_states([run.pk])[run.pk]


def after(run, kind: str, **data) -> str:
    Event.objects.create(run=run, kind=kind, actor="worker", data=data)
    return state(run).words


@pytest.mark.parametrize(
    ("answered", "deliberated", "words", "writer"),
    [
        (0, 0, "Round 3: the judges are scoring, 0 of 3 have answered.", "board"),
        (1, 0, "1 of 3 have answered. Waiting for Newcomer and Fact checker.", "board"),
        (2, 0, "2 of 3 have answered. Waiting for Fact checker.", "board"),
        (3, 0, "Round 3: the judges are deliberating, 0 of 3 have answered.", "board"),
        (3, 2, "the judges are deliberating, 2 of 3 have answered. Waiting for Fact checker.", "board"),
        (3, 3, "Round 3: the clerk is merging the board's verdicts.", "clerk"),
    ],
)
def test_the_judges_answer_one_by_one(project, answered, deliberated, words, writer):
    found = state(under_way(project, answered=answered, deliberated=deliberated))
    assert found.words.endswith(words)
    assert found.writer == writer


def test_a_judge_that_cannot_be_read_does_not_deliberate(project):
    run = under_way(project, answered=3, deliberated=1)
    BoardVerdict.objects.filter(round__run=run, round__number=3, seat=3).update(problem="Not JSON.")
    assert "1 of 2 have answered. Waiting for Newcomer." in state(run).words


def test_without_deliberation_the_clerk_follows(project):
    run = under_way(project, answered=3)
    run.snapshot["judges"]["deliberation"] = False
    run.save(update_fields=["snapshot"])
    assert "the clerk is merging" in state(run).words


def test_a_board_without_a_panel_is_composed(project):
    run = under_way(project, answered=0)
    PanelJudge.objects.filter(run=run).delete()
    assert state(run).words == "Round 3: the clerk is composing the board."
    assert state(run).writer == "clerk"


def test_an_unreadable_reply_is_that_of_its_speaker(project):
    run = under_way(project, answered=1)
    assert after(run, "unreadable", round=3, seat=2, purpose="score").endswith(
        "Newcomer's reply was not valid, retrying."
    )
    assert "the clerk's reply was not valid" in after(run, "unreadable", round=3, seat=0, purpose="merge")


def test_what_the_producer_and_the_commands_do_is_said_as_ever(project):
    run = under_way(project, answered=0)
    assert "the writer is writing a revision" in after(run, "claimed", step="revise", round=4)
    assert "the evaluator is running" in after(run, "evaluating", round=3, command="evaluator", number=1)
    failed = {"round": 3, "command": "validation", "number": 1, "exit_code": 1}
    assert "is repairing a text" in after(run, "evaluated", **failed)


def test_after_the_merge_the_change_is_named_and_then_the_producer_writes(project):
    run = under_way(project, answered=3, deliberated=3)
    composite = {"composite": 7, "scores": {}, "judged_at": "2026-01-01T00:00Z"}
    Round.objects.filter(run=run, number=3).update(**composite)
    assert after(run, "judged", round=3) == "Round 3: the clerk is naming what changed."
    Round.objects.filter(run=run, number=3).update(key_change="Adds it")
    assert after(run, "described", round=3) == "Round 4: the writer is writing a revision."


def test_a_change_that_is_named_first_leaves_the_merge(project):
    run = under_way(project, answered=3, deliberated=3)
    Round.objects.filter(run=run, number=3).update(key_change="Adds it")
    assert "the clerk is merging" in after(run, "described", round=3)


def test_a_single_judge_s_change_is_named_if_somebody_reads_it(project):
    run = finished_run(project, ["5", "6"], **GOES_ON)
    assert "Round 3: the writer is writing a revision." in after(run, "judged", round=2)
    run.snapshot["judges"]["clerk"] = "ollama/gemma3:27b"
    run.save(update_fields=["snapshot"])
    assert state(run).words == "Round 2: the clerk is naming what changed."


def test_a_board_takes_over(project):
    run = finished_run(project, ["5", "6", "6", "6"], **GOES_ON, escalated_after=4)
    assert after(run, "escalated", round=4) == "Round 5: the writer is writing a revision."
    assert state(run).rounds_words == "4 of 6 rounds judged"


def test_a_run_that_asks_is_paused_on_a_plateau(project):
    assert state(at_plateau(project)).words == "Paused on a plateau."


def test_boards_cost_two_more_queries_however_many_are_watched(project):
    runs = [under_way(project) for _ in range(3)]
    counts = []
    for watched in (runs[:1], runs):
        with CaptureQueriesContext(connection) as queries:
            live_states([run.pk for run in watched])
        counts.append(len(queries))
    assert counts == [4, 4]
    Run.objects.update(status="paused")
    Run.objects.filter(pk=runs[0].pk).update(plateau_asked=True)
    with CaptureQueriesContext(connection) as queries:
        live_states([finished_run(project).pk])
    assert len([query for query in queries if "paneljudge" in query["sql"]]) == 0


def test_no_judge_is_at_work_while_the_first_draft_is_written(project):
    run = under_way(project, answered=0)
    assert live_board(run, state(run).board) is not None
    Round.objects.filter(run=run).delete()
    assert live_board(run, state(run).board) is None
