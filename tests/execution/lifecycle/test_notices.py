"""The person who launched a run is notified when it ends or starts to wait, in the same transaction."""

import pytest

from refinement.models import Notice, Run
from refinement.services.runs.lifecycle import run_cancel
from tests.execution.lifecycle.given import Scene, advance, rubric

pytestmark = pytest.mark.django_db


def told(user) -> list[tuple[str, str]]:
    return list(Notice.objects.filter(user=user).order_by("id").values_list("kind", "text"))


def test_the_end_of_a_run_is_told_once(scene: Scene, editor):
    scene.says(5.0, 9.5)
    run = scene.launch(rubric(3), user=editor)
    advance(run)
    ((kind, text),) = told(editor)
    assert kind == "run_ended"
    assert text.startswith(f"Run {run.pk}, ")
    assert text.endswith(" passed.")


def test_a_run_that_nobody_launched_tells_nobody(scene: Scene, editor):
    scene.says(9.5)
    advance(scene.launch())
    assert Notice.objects.count() == 0


def test_cancelling_is_told_to_others_alone(scene: Scene, editor, owner):
    run_cancel(run=scene.launch(user=editor), user=editor)
    assert told(editor) == []
    run_cancel(run=scene.launch(user=editor), user=owner)
    ((_, text),) = told(editor)
    assert text.endswith("was stopped by Olivia Owner.")


def test_the_first_wait_of_a_step_is_told_and_its_further_tries_are_not(scene: Scene, editor):
    run = scene.launch(user=editor)
    scene.server.go_offline()
    for _ in range(3):
        advance(run, steps=1)
        Run.objects.filter(pk=run.pk, status="waiting").update(next_try_at="2000-01-01T00:00Z")
    run.refresh_from_db()
    assert run.step_failures == 3
    ((kind, text),) = told(editor)
    assert kind == "run_waits"
    assert "is waiting for a model server" in text
