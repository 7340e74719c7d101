"""The duration of a run does not include idle time."""

from datetime import timedelta

import pytest
from django.utils import timezone

from refinement.models import Event, Run
from refinement.selectors.runs.page import time_label
from refinement.services.runs.lifecycle import run_continue, run_pause, run_resume
from tests.execution.lifecycle.given import Scene, advance, rubric

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def long_ago(run: Run) -> None:
    """Moves everything that happened to the run a day into the past."""
    times = {name: getattr(run, name) - DAY for name in ("started_at", "finished_at") if getattr(run, name)}
    Run.objects.filter(pk=run.pk).update(**times)
    for event in Event.objects.filter(run=run):
        Event.objects.filter(pk=event.pk).update(at=event.at - DAY)
    run.refresh_from_db()


def test_more_rounds_do_not_count_the_time_between(scene: Scene) -> None:
    scene.says(7.0, 6.0, 6.5)
    run = scene.launch(rubric(1))
    advance(run)
    long_ago(run)
    run_continue(run=run, rounds=1)
    advance(run)
    assert (run.status, run.rounds_judged) == ("finished", 2)
    assert time_label(run).endswith(" s"), "not a day"


def test_a_pause_does_not_count(scene: Scene) -> None:
    run = scene.in_state("running")
    Run.objects.filter(pk=run.pk).update(started_at=timezone.now())
    run_pause(run=run)
    long_ago(run := Run.objects.get(pk=run.pk))
    run_resume(run=run)
    run.refresh_from_db()
    assert time_label(run).endswith(" s"), "not a day"
