"""The events of a run: everything that happened, in order, with its author."""

import pytest

from refinement.execution.events import actor_name, event_record
from refinement.models import AuditEntry, Event, User
from refinement.services.audit import audit_record
from refinement.services.runs.lifecycle import run_pause, run_resume
from tests.execution.lifecycle.given import Scene, advance, kinds, rubric
from tests.loopback.faults import Fault

pytestmark = pytest.mark.django_db


def test_a_whole_run_leaves_its_story(scene: Scene, editor: User):
    scene.says(5.0, "no verdict", 6.0, texts=["A draft.", "A revision."])
    run = scene.launch(rubric(2), seed="", user=editor)
    advance(run, 2)
    run_pause(run=run, user=editor)
    run_resume(run=run, user=editor)
    advance(run)
    assert kinds(run) == [
        *("queued", "claimed", "drafted", "claimed", "judged"),
        *("paused", "resumed"),
        *("claimed", "revised", "claimed", "unreadable", "claimed", "judged", "stopped"),
    ]
    people = {"queued", "paused", "resumed"}
    for event in run.events.all():
        assert (event.actor, event.user) == (
            ("Edgar Editor", editor) if event.kind in people else ("worker", None)
        )
    times = list(run.events.values_list("at", flat=True))
    assert times == sorted(times)


def test_each_event_says_what_it_is_about(scene: Scene):
    scene.says(5.0, texts=["A draft."])
    run = scene.launch(rubric(1), seed="")
    advance(run)
    said = {event.kind: event.data for event in run.events.all() if event.kind != "claimed"}
    assert said["drafted"] == {"round": 1, "chars": 8}
    assert said["judged"]["round"] == 1
    assert float(said["judged"]["composite"]) == 5
    assert said["stopped"] == {"outcome": "FAIL", "reason": "max_rounds", "why": run.why}
    claims = [event.data for event in run.events.filter(kind="claimed")]
    assert claims == [{"step": "draft", "round": 1}, {"step": "judge", "round": 1}]


def test_waiting_says_until_when_and_why(scene: Scene):
    scene.server.faults = [Fault("status", status=503)]
    run = scene.launch(rubric(1))
    advance(run, 1)
    data = run.events.get(kind="waiting").data
    assert (data["until"], data["reason"]) == (run.next_try_at.isoformat(), run.waiting_for)
    assert data["error"] == "unreachable"


def test_a_step_that_is_given_up_says_who_failed_and_how(scene: Scene):
    scene.server.faults = [Fault("status", status=401)]
    run = scene.launch(rubric(1))
    advance(run)
    data = run.events.get(kind="failed").data
    assert data["role"] == "judge"
    assert data["message"] in run.why


def test_a_long_name_is_cut_where_the_column_ends(scene: Scene):
    run = scene.launch()
    event_record(run.pk, "paused", actor="A" * 500)
    assert Event.objects.get(kind="paused").actor == "A" * 120


def test_an_actor_is_a_person_or_the_command_line(editor: User):
    assert (actor_name(editor), actor_name(None)) == ("Edgar Editor", "command line")


def test_an_audit_entry_stands_without_project_or_person(db):
    audit_record(action="endpoint.change", object_type="endpoint", object_id="hub", after={"url": "x"})
    entry = AuditEntry.objects.get()
    assert (entry.project, entry.user, entry.actor) == (None, None, "command line")
    assert (entry.object_id, entry.before, entry.after) == ("hub", {}, {"url": "x"})


def test_an_audit_entry_outlives_the_person(editor: User):
    audit_record(action="run.cancel", object_type="run", object_id=1, user=editor)
    editor.delete()
    entry = AuditEntry.objects.get()
    assert (entry.user, entry.actor) == (None, "Edgar Editor")
