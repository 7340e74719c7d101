"""Unreadable judges and clerks: three attempts, then named and left out; a board needs a majority."""

from decimal import Decimal

import pytest

from refinement.execution.advancing import run_advance
from refinement.models import EventKind
from refinement.providers.registry import Target
from refinement.services.runs.lifecycle import run_retry
from tests.execution.boards.given import (
    UNREADABLE,
    Script,
    answers,
    board_rubric,
    by_step,
    calls_of,
    ended,
    panel,
    requests,
    scores_of,
    speakers,
)
from tests.execution.lifecycle.given import Scene, kinds
from tests.execution.wire.stage import roles, texts
from tests.loopback.faults import Fault


def test_an_unreadable_judge_is_asked_three_times_named_and_left_out(scene: Scene):
    rubric = board_rubric(panel(3))
    scene.server.replies = Script(rubric, {"Ada": [8], "Ben": [UNREADABLE], "Cleo": [6]})
    run = ended(scene.launch(rubric))
    assert (run.outcome, run.rounds.get().composite) == ("DONE", 6)
    ada, ben, cleo = answers(run)
    assert ben.problem.startswith("No valid reply after 3 tries.")
    assert (ben.scores, ben.stances, scores_of(ada), scores_of(cleo)) == ([], None, [8] * 3, [6] * 3)
    asked = [call for call in calls_of(run, "score") if call.seat == 2]
    assert [call.attempt for call in asked] == [1, 2, 3]
    assert all(call.reply == UNREADABLE and call.complaint for call in asked)
    assert speakers(scene.server, "score").count("Ben") == 3
    assert speakers(scene.server, "deliberate") == ["Ada", "Cleo"]
    assert "Ben" not in texts(requests(scene.server, "merge")[0])[-1]
    assert kinds(run).count(EventKind.UNREADABLE) == 2
    assert run.calls_made == run.calls.count() == 5 + 2 + 1
    assert {key: Decimal(spread) for key, spread in run.rounds.get().spread.items()} == {
        criterion.key: 2 for criterion in rubric.criteria
    }


def test_a_judge_is_asked_again_with_its_reply_and_the_complaint(scene: Scene):
    rubric = board_rubric(panel(2))
    scene.server.replies = Script(rubric, {"Ada": [8], "Ben": [UNREADABLE, 4]})
    run = ended(scene.launch(rubric))
    assert run.rounds.get().composite == 4
    first, second = (
        entry for entry in requests(scene.server, "score") if "way Ben does" in str(entry.body["messages"])
    )
    assert roles(second) == [*roles(first), "assistant", "user"]
    assert texts(second)[-2] == UNREADABLE
    (unreadable,) = [call for call in calls_of(run, "score") if call.complaint]
    assert unreadable.complaint in texts(second)[-1]
    assert [row.problem for row in answers(run)] == ["", ""]


def test_below_the_quorum_the_round_is_unscored_and_a_retry_asks_again(scene: Scene):
    rubric = board_rubric(panel(3))
    script = Script(rubric, {"Ada": [8], "Ben": [UNREADABLE] * 3 + [5], "Cleo": [UNREADABLE] * 3 + [6]})
    scene.server.replies = script
    run = ended(scene.launch(rubric))
    assert (run.outcome, run.stop_reason, run.rounds_judged) == ("ERROR", "judge_failed", 0)
    assert run.why == (
        "The board has no quorum: 1 of 3 judges returned valid scores. Ben and Cleo did not. "
        "Retry the run, or change the judges' models."
    )
    entry = run.rounds.get()
    assert (entry.judged_at, entry.composite) == (None, None)
    assert requests(scene.server, "deliberate") == []
    run_retry(run=run)
    assert [row.seat for row in answers(run)] == [1], "the verdict that was read is kept"
    run = ended(run)
    assert (run.outcome, run.rounds.get().composite) == ("DONE", 6)
    assert speakers(scene.server, "score") == ["Ada"] + ["Ben"] * 4 + ["Cleo"] * 4
    assert [call.attempt for call in calls_of(run, "score") if call.seat == 2] == [1, 2, 3, 4]
    again = requests(scene.server, "score")[-1]
    assert UNREADABLE not in str(again.body["messages"]), "a retry begins anew"


def test_a_board_of_two_needs_both(scene: Scene):
    rubric = board_rubric(panel(2))
    scene.server.replies = Script(rubric, {"Ada": [8], "Ben": [UNREADABLE]})
    run = ended(scene.launch(rubric))
    assert run.outcome == "ERROR"
    assert "1 of 2 judges returned valid scores. Ben did not." in run.why


def test_an_earlier_round_is_the_result_of_a_run_without_a_quorum(scene: Scene):
    rubric = board_rubric(panel(2), rounds=2)
    scene.server.replies = Script(rubric, {"Ada": [8], "Ben": [6, UNREADABLE]})
    run = ended(scene.launch(rubric))
    assert (run.outcome, run.best_round, run.rounds_judged) == ("ERROR", 1, 1)
    assert run.rounds.count() == 2


def test_unreadable_stances_leave_a_judges_scores_as_they_are(scene: Scene):
    rubric = board_rubric(panel(3))
    scores = {"Ada": [8], "Ben": [3], "Cleo": [5]}
    scene.server.replies = Script(rubric, scores, stances={"Ben": [UNREADABLE], "Cleo": [{0: 7, 1: 7, 2: 7}]})
    run = ended(scene.launch(rubric))
    assert run.rounds.get().composite == 7
    ben = answers(run)[1]
    assert (ben.stances, ben.stances_problem.startswith("No valid reply after 3 tries.")) == ([], True)
    assert len([call for call in calls_of(run, "deliberate") if call.seat == 2]) == 3


def test_an_unreadable_clerk_leaves_the_suggestion_of_the_judge_closest_to_the_board(scene: Scene):
    rubric = board_rubric(panel(3), rounds=2)
    scores = {"Ada": [8], "Ben": [3], "Cleo": [5]}
    scene.server.replies = Script(rubric, scores, merge=[UNREADABLE], describe=[UNREADABLE])
    run = ended(scene.launch(rubric))
    assert run.outcome == "DONE"
    first, second = run.rounds.order_by("number")
    assert (first.composite, first.verdicts.get().asi) == (5, "Cleo suggests a change.")
    assert first.summary["problem"].startswith(
        "The suggestions could not be merged, so Cleo's is used. No valid reply after 3 tries."
    )
    assert "Cleo suggests a change." in texts(requests(scene.server, "write")[0])[-1]
    assert second.key_change == "", "only a change that the clerk named counts as one"
    assert len(calls_of(run, "merge")) == 6
    assert len(calls_of(run, "describe")) == 3


def test_a_judge_whose_model_is_missing_is_left_out_and_named(scene: Scene):
    rubric = board_rubric(panel(3, Ben="ollama/gone:7b"))
    scene.server.replies = Script(rubric, {"Ada": [8], "Cleo": [6]})
    run = ended(scene.launch(rubric))
    assert (run.outcome, run.rounds.get().composite) == ("DONE", 6)
    ben = answers(run)[1]
    assert "gone:7b" in ben.problem
    assert speakers(scene.server, "score") == ["Ada", "Cleo"]


def test_a_model_that_a_server_refuses_only_when_it_is_called_is_left_out(scene: Scene):
    rubric = board_rubric(panel(3))
    scene.server.replies = Script(rubric, {"Ada": [8], "Ben": [6], "Cleo": [6]})
    scene.server.faults = [Fault("unknown_model", nth=(1,), role="judge")]
    run = ended(scene.launch(rubric))
    assert run.outcome == "DONE"
    (left_out,) = [row for row in answers(run) if row.problem]
    (failed,) = [call for call in calls_of(run, "score") if call.error_kind]
    assert (failed.seat, failed.error_kind) == (left_out.seat, "model_missing")
    assert left_out.problem == failed.error_message


def test_a_run_goes_on_without_its_clerks_model(scene: Scene):
    rubric = board_rubric(panel(2))
    scene.server.replies = Script(rubric, {"Ada": [8], "Ben": [6]})
    run = ended(scene.launch(rubric, clerk=Target("ollama", "gone:7b")))
    entry = run.rounds.get()
    assert (run.outcome, entry.composite) == ("DONE", 6)
    assert "gone:7b" in entry.summary["problem"]
    assert by_step(run) == [(1, "score", 1), (1, "score", 2), (1, "deliberate", 1), (1, "deliberate", 2)]


@pytest.mark.parametrize("purpose", ["score", "deliberate", "merge"])
def test_replies_that_were_unreadable_before_a_worker_was_lost_still_count(scene: Scene, purpose):
    """The count is the run's, not the worker's."""
    rubric = board_rubric(panel(2))
    script = Script(rubric, {"Ada": [8], "Ben": [6]})
    script.scores = {"Ada": [8], "Ben": [UNREADABLE if purpose == "score" else 6]}
    script.stances = {"Ben": [UNREADABLE]} if purpose == "deliberate" else {}
    script.merge = [UNREADABLE] if purpose == "merge" else script.merge
    scene.server.replies = script
    run = scene.launch(rubric)
    key = {"score": "score:2", "deliberate": "deliberate:2", "merge": "merge:0"}[purpose]
    run.board_unreadable = {key: 2}
    run.save(update_fields=["board_unreadable"])
    run_advance(run.pk)
    seat = 0 if purpose == "merge" else 2
    assert len([call for call in calls_of(run, purpose) if call.seat == seat]) == 1
