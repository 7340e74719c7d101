"""Every action on a run in every state: its effect if it is allowed, and none otherwise."""

from collections.abc import Callable

import pytest

from refinement.models import AuditEntry, LiveText, Run, User
from refinement.services.runs.lifecycle import (
    WrongState,
    run_cancel,
    run_continue,
    run_pause,
    run_pause_later,
    run_rerun,
    run_resume,
    run_retry,
)
from tests.execution.lifecycle.given import FINISHED, STATES, Scene, advance, kinds, messages, row_of, rubric

pytestmark = pytest.mark.django_db
GOING = {"queued", "running", "waiting"}


def more_rounds(*, run: Run, user: User | None) -> Run:
    return run_continue(run=run, rounds=2, user=user)


# verb, service, states it may be called in, state and outcome after it, event, messages it sends
CHANGES = [
    ("cancel", run_cancel, GOING | {"paused"}, {"status": "finished", "outcome": "CANCELLED"}, "stopped", 0),
    ("pause", run_pause, GOING, {"status": "paused"}, "paused", 0),
    ("resume", run_resume, {"paused"}, {"status": "queued"}, "resumed", 1),
    ("retry", run_retry, {"ERROR"}, {"status": "queued"}, "retried", 1),
    ("continue", more_rounds, set(FINISHED) - {"ERROR"}, {"status": "queued"}, "extended", 1),
]
MAY = [(*change[:2], state, *change[3:]) for change in CHANGES for state in STATES if state in change[2]]
MAY_NOT = [(*change[:2], state) for change in CHANGES for state in STATES if state not in change[2]]


def named(rows: list[tuple]) -> list[str]:
    return [f"{row[0]}-{row[2]}" for row in rows]


def test_the_table_names_every_state_of_every_change():
    assert len(MAY) + len(MAY_NOT) == len(CHANGES) * len(STATES)


@pytest.mark.parametrize(("verb", "service", "state", "after", "event", "sent"), MAY, ids=named(MAY))
def test_it_takes_effect_with_event_audit_entry_and_message(
    scene: Scene, editor: User, verb: str, service: Callable[..., Run], state, after, event, sent
):
    run = scene.in_state(state)
    LiveText.objects.create(run=run, attempt=run.attempt, position=0, text="So far")
    changed = service(run=run, user=editor)

    run.refresh_from_db()
    assert run.status == changed.status == after["status"]
    assert run.outcome == after.get("outcome", "")
    assert (run.lease_owner, run.lease_until, run.calling) == ("", None, {})
    assert (run.next_try_at, run.waiting_for, run.waiting_endpoint) == (None, "", "")
    assert (run.finished_at is None) == (run.status != "finished")
    assert kinds(run) == [event]
    assert (run.events.get().actor, run.events.get().user) == ("Edgar Editor", editor)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.object_type, entry.object_id) == (f"run.{verb}", "run", str(run.pk))
    assert (entry.user, entry.actor, entry.project) == (editor, "Edgar Editor", scene.project)
    ended = {"status": "finished", "outcome": state}
    assert entry.before == (ended if state in FINISHED else {"status": state})
    assert entry.after == after
    assert messages(run) == sent
    if verb in ("cancel", "pause"):
        assert not LiveText.objects.filter(run=run).exists()


@pytest.mark.parametrize(("verb", "service", "state"), MAY_NOT, ids=named(MAY_NOT))
def test_it_is_refused_with_a_sentence_and_changes_nothing(
    scene: Scene, editor: User, verb: str, service: Callable[..., Run], state: str
):
    run = scene.in_state(state)
    before = row_of(run)
    with pytest.raises(WrongState) as refused:
        service(run=run, user=editor)
    assert str(refused.value) == sentence(verb, state, run)
    assert row_of(run) == before
    assert (kinds(run), messages(run), AuditEntry.objects.count()) == ([], 0, 0)


def sentence(verb: str, state: str, run: Run) -> str:
    status = "finished" if state in FINISHED else state
    if (verb, state) == ("continue", "ERROR"):
        return f"Run {run.pk} ended in ERROR; retry it before adding rounds."
    if (verb, state) == ("pause", "paused"):
        return f"Run {run.pk} is already paused."
    if verb == "retry" and state in FINISHED:
        status = f"finished with {state}"
    return {
        "cancel": f"Run {run.pk} is {status}; it cannot be stopped.",
        "pause": f"Run {run.pk} is {status}; it cannot be paused.",
        "resume": f"Run {run.pk} is {status}; only a paused run can be resumed.",
        "retry": f"Run {run.pk} is {status}; only a run that ended in ERROR can be retried.",
        "continue": f"Run {run.pk} is {status}; only a finished run can get more rounds.",
    }[verb]


@pytest.mark.parametrize("state", STATES)
def test_a_run_can_be_made_again_in_any_state_and_stays_as_it_is(scene: Scene, editor: User, state: str):
    run = scene.in_state(state)
    before = row_of(run)
    again = run_rerun(run=run, user=editor)
    assert row_of(run) == before
    again.refresh_from_db()
    assert (again.status, again.outcome, again.rounds_judged, again.calls_made) == ("queued", "", 0, 0)
    same = ("task", "seed", "snapshot", "calibration", "rubric_version_id", "project_id", "judge_model")
    assert [getattr(again, name) for name in same] == [getattr(run, name) for name in same]
    assert (again.producer_endpoint, again.producer_model) == (run.producer_endpoint, run.producer_model)
    assert (again.rerun_of, again.created_by) == (run, editor)
    assert again.nonce != run.nonce
    assert (messages(again), messages(run), kinds(again), kinds(run)) == (1, 0, ["queued"], [])
    entry = AuditEntry.objects.get(action="run.rerun")
    assert (entry.object_id, entry.after, entry.user) == (str(run.pk), {"new_run": again.pk}, editor)
    assert AuditEntry.objects.get(action="run.create").object_id == str(again.pk)


def test_nobody_signed_in_is_the_command_line(scene: Scene):
    run = scene.in_state("queued")
    run_cancel(run=run)
    run.refresh_from_db()
    assert run.why == "Stopped by command line after round 1."
    assert (run.events.get().actor, run.events.get().user) == ("command line", None)
    assert AuditEntry.objects.get().actor == "command line"


def test_a_cancelled_run_says_that_nothing_was_judged(scene: Scene, editor: User):
    run = scene.launch()
    run_cancel(run=run, user=editor)
    run.refresh_from_db()
    assert run.why == "Stopped by Edgar Editor before any round was judged."
    assert run.events.last().data == {"outcome": "CANCELLED", "reason": "cancelled", "why": run.why}


def test_a_run_that_is_gone_from_view_is_judged_by_its_row_not_by_what_the_caller_holds(scene: Scene):
    """Somebody's page is old: what it says of the state counts for nothing."""
    held = scene.in_state("queued")
    run_pause(run=Run.objects.get(pk=held.pk))
    with pytest.raises(WrongState, match="is already paused"):
        run_pause(run=held)
    run_resume(run=held)
    assert messages(held) == 1


@pytest.mark.parametrize(("held_as", "service"), [("ERROR", run_retry), ("FAIL", more_rounds)])
def test_an_outcome_that_has_changed_since_is_looked_at_anew(scene: Scene, editor: User, held_as, service):
    held = scene.in_state(held_as)
    now = "FAIL" if held_as == "ERROR" else "ERROR"
    Run.objects.filter(pk=held.pk).update(outcome=now)
    with pytest.raises(WrongState):
        service(run=held, user=editor)
    assert row_of(held)["outcome"] == now


def test_a_run_pauses_after_its_round_and_goes_on_from_there(scene: Scene):
    scene.says(5.0, 6.0, 7.0)
    run = scene.launch(rubric(3))
    run_pause_later(run=run)
    advance(run)
    assert (run.status, run.rounds_judged, run.pause_after_round) == ("paused", 1, False)
    assert kinds(run)[-1] == "paused"
    assert scene.asked() == 1  # nothing of the next round was begun
    run_resume(run=run)
    advance(run)
    assert (run.status, run.rounds_judged) == ("finished", 3)


def test_a_run_that_ends_with_its_round_does_not_pause(scene: Scene):
    scene.says(5.0)
    run = scene.launch(rubric(1))
    run_pause_later(run=run)
    advance(run)
    assert (run.status, run.outcome) == ("finished", "FAIL")
    actions = AuditEntry.objects.filter(object_id=str(run.pk)).values_list("action", flat=True)
    assert "run.pause_later" in actions
    assert "run.pause" not in actions, "nobody paused it"
