"""A run that stopped improving asks a person: the effect of each answer, and who can still answer."""

from dataclasses import replace
from functools import partial

import pytest

from refinement.engine.profiles import rubric_for
from refinement.engine.types import JudgeMode, Judges, OnPlateau, PanelJudge, Rubric
from refinement.execution.advancing import run_advance
from refinement.models import AuditEntry, BoardVerdict, Notice, QueuedMessage, Run
from refinement.providers.registry import Target
from refinement.services.runs.hand_rounds import Edit, round_edit
from refinement.services.runs.lifecycle import (
    WrongState,
    run_cancel,
    run_continue,
    run_rerun,
    run_resume,
    run_retry,
)
from refinement.services.runs.plateau import plateau_answer
from tests.execution.lifecycle.conftest import scene
from tests.execution.lifecycle.given import Scene, at_once, kinds, messages
from tests.loopback.fixtures import ollama_server
from tests.loopback.replies import valid_replies

__all__ = ["ollama_server", "scene"]
pytestmark = pytest.mark.django_db(transaction=True)
PANEL = (PanelJudge("Ada", "You look at the whole."), PanelJudge("Ben", "You look at each word."))


def asking_rubric(**policy: object) -> Rubric:
    """Simmer's, whose runs ask after four rounds with the same scores."""
    base = rubric_for("simmer")
    values = {"max_rounds": 8, "on_plateau": OnPlateau.ASK, **policy}
    return replace(base, judges=Judges(panel=PANEL), policy=replace(base.policy, **values))


def asking_run(scene: Scene, definition: Rubric | None = None, **more: object) -> Run:
    scene.server.replies = valid_replies(5)
    run = scene.launch(definition or asking_rubric(), **more)
    run_advance(run.pk)
    QueuedMessage.objects.all().delete()
    run.refresh_from_db()
    assert (run.status, run.plateau_asked, run.rounds_judged) == ("paused", True, 4)
    return run


def test_whoever_launched_the_run_is_told_once(scene, editor):
    run = asking_run(scene, user=editor)
    notice = Notice.objects.get()
    assert (notice.user, notice.run, notice.kind) == (editor, run, "run_asks")
    assert "is paused after round 4. Stop it, or continue" in notice.text


def test_stopping_ends_the_run_on_its_plateau(scene, editor):
    run = asking_run(scene)
    before = run.calls_made
    answered = plateau_answer(run=run, answer="stop", user=editor)
    assert (answered.status, answered.plateau_asked, answered.plateau_accepted) == ("queued", False, True)
    assert messages(run) == 1
    run_advance(run.pk)
    run.refresh_from_db()
    assert (run.status, run.outcome, run.stop_reason) == ("finished", "DONE", "plateau")
    assert (run.rounds_judged, run.calls_made) == (4, before)
    event = run.events.get(kind="resumed")
    assert (event.actor, event.data) == ("Edgar Editor", {"answer": "stop"})
    entry = AuditEntry.objects.get(action="run.plateau_stop")
    assert (entry.user, entry.object_id, entry.after) == (editor, str(run.pk), {"status": "queued"})


def test_continuing_has_a_board_judge_two_more_rounds(scene, editor):
    run = asking_run(scene)
    answered = plateau_answer(run=run, answer="continue", user=editor)
    assert (answered.status, answered.plateau_asked, answered.escalated_after) == ("queued", False, 4)
    assert kinds(run)[-2:] == ["resumed", "escalated"]
    run_advance(run.pk)
    run.refresh_from_db()
    assert (run.status, run.rounds_judged, run.stop_reason) == ("finished", 6, "max_rounds")
    boards = BoardVerdict.objects.filter(round__run=run).values_list("round__number", "judge__name")
    assert sorted(boards) == [(5, "Ada"), (5, "Ben"), (6, "Ada"), (6, "Ben")]
    assert AuditEntry.objects.filter(action="run.plateau_continue", user=editor).count() == 1


@pytest.mark.parametrize("answer", ["stop", "continue"])
@pytest.mark.parametrize("state", ["queued", "running", "waiting", "paused", "FAIL"])
def test_a_run_that_does_not_ask_takes_no_answer(scene, state, answer):
    run = scene.in_state(state)
    with pytest.raises(WrongState, match=f"Run {run.pk} does not wait for a decision"):
        plateau_answer(run=run, answer=answer)
    assert (kinds(run), messages(run), AuditEntry.objects.count()) == ([], 0, 0)


def test_another_answer_is_refused(scene):
    run = asking_run(scene)
    with pytest.raises(ValueError, match="stop or continue, not 'later'"):
        plateau_answer(run=run, answer="later")
    run.refresh_from_db()
    assert run.plateau_asked


def test_of_two_people_at_once_exactly_one_wins(scene, editor, owner):
    run = asking_run(scene)
    results = at_once(
        partial(plateau_answer, run=run, answer="stop", user=editor),
        partial(plateau_answer, run=run, answer="continue", user=owner),
        partial(plateau_answer, run=run, answer="continue", user=owner),
    )
    assert sum(isinstance(result, Run) for result in results) == 1
    assert sum(isinstance(result, WrongState) for result in results) == 2
    run.refresh_from_db()
    assert run.plateau_accepted is (run.escalated_after == 0)
    assert (messages(run), kinds(run).count("resumed")) == (1, 1)


def test_a_plain_resume_does_not_lose_the_question(scene):
    run = asking_run(scene)
    with pytest.raises(WrongState, match="waits for a decision: stop it, or continue with two more rounds"):
        run_resume(run=run)
    run.refresh_from_db()
    assert (run.status, run.plateau_asked) == ("paused", True)


def test_without_budget_a_run_can_only_stop(scene):
    run = asking_run(scene)
    snapshot = run.snapshot
    snapshot["policy"]["budget"]["calls"] = run.calls_made
    Run.objects.filter(pk=run.pk).update(snapshot=snapshot)
    with pytest.raises(WrongState, match="has used up its budget of calls"):
        plateau_answer(run=run, answer="continue")
    plateau_answer(run=run, answer="stop")
    run_advance(run.pk)
    run.refresh_from_db()
    assert run.stop_reason == "plateau"


def test_cancelling_withdraws_the_question(scene):
    run = run_cancel(run=asking_run(scene))
    assert (run.outcome, run.plateau_asked) == ("CANCELLED", False)
    with pytest.raises(WrongState):
        plateau_answer(run=run, answer="continue")


@pytest.mark.parametrize("resume", [True, False])
def test_an_edit_by_hand_answers_for_one_round(scene, editor, resume):
    run = asking_run(scene)
    round_edit(run=run, edit=Edit(base=4, text="# My own text.", newest=4, resume=resume), user=editor)
    run.refresh_from_db()
    assert (run.status, run.plateau_asked) == ("queued" if resume else "paused", False)
    if not resume:
        run_resume(run=run)
    run_advance(run.pk)
    run.refresh_from_db()
    assert (run.rounds_judged, run.status, run.plateau_asked) == (5, "paused", True)


def test_more_rounds_after_a_stop_may_ask_again(scene):
    run = asking_run(scene)
    plateau_answer(run=run, answer="stop")
    run_advance(run.pk)
    run = run_continue(run=run, rounds=6)
    assert not run.plateau_accepted
    run_advance(run.pk)
    run.refresh_from_db()
    assert (run.status, run.plateau_asked) == ("paused", True)


def test_a_retry_asks_only_the_judges_that_could_not_be_read(scene):
    fits = valid_replies(5)
    definition = replace(asking_rubric(max_rounds=1), judges=Judges(JudgeMode.BOARD, PANEL))
    scene.server.replies = lambda asked: "Hm." if "each word" in asked.prompt else fits(asked)
    run = scene.launch(definition)
    run_advance(run.pk)
    run.refresh_from_db()
    assert (run.outcome, run.stop_reason) == ("ERROR", "judge_failed")
    scene.server.replies = fits
    run_retry(run=run)
    assert list(BoardVerdict.objects.values_list("judge__name", flat=True)) == ["Ada"]
    run_advance(run.pk)
    run.refresh_from_db()
    assert (run.outcome, run.rounds_judged) == ("DONE", 1)
    assert run.calls.filter(purpose="score", seat=1).count() == 1


def test_a_rerun_has_the_same_clerk_and_panel(scene):
    clerk = Target("ollama", "clerk:4b")
    named = scene.launch(replace(asking_rubric(), judges=Judges(JudgeMode.BOARD, PANEL)), clerk=clerk)
    again = run_rerun(run=named)
    assert (again.clerk_endpoint, again.clerk_model) == ("ollama", "clerk:4b")
    assert list(again.panel.values_list("name", flat=True)) == ["Ada", "Ben"]
    assert again.snapshot["judges"] == named.snapshot["judges"]


def test_a_panel_that_the_clerk_composed_is_composed_again(scene):
    scene.server.replies = valid_replies(5)
    run = scene.launch(replace(asking_rubric(max_rounds=1), judges=Judges(JudgeMode.BOARD)))
    run_advance(run.pk)
    assert run.panel.count() == 3
    again = run_rerun(run=run)
    assert again.panel.count() == 0
    assert again.snapshot["judges"]["mode"] == "board"
