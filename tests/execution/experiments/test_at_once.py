"""Concurrent worker threads start, pause and stop an experiment's runs."""

import json
import time

import pytest
from django.utils import timezone

from refinement.actors import advance_run, compute_report, deliver_webhook
from refinement.broker import rows
from refinement.models import ExperimentRun, Run
from refinement.services.experiments.control import experiment_cancel, experiment_pause, experiment_resume
from refinement.services.experiments.dealing import experiment_advance
from tests.execution.lifecycle.conftest import scene
from tests.execution.lifecycle.given import Scene, at_once, rubric, worker_threads
from tests.loopback.fixtures import ollama_server
from tests.services.experiments.given import a_rubric, an_experiment, end, going, states

__all__ = ["ollama_server", "scene"]
pytestmark = pytest.mark.django_db(transaction=True)
THREADS = 8  # as many as are assumed while no worker is online
LONG = 60.0


def under_way(scene: Scene) -> int:
    return sum(entry.finished is None and entry.aborted is None for entry in scene.server.chats)


def test_messages_at_once_start_no_run_twice(project):
    experiment = an_experiment(project, tasks=20)
    advance = [lambda: experiment_advance(experiment.pk)] * 6
    assert sum(at_once(*advance)) == THREADS
    assert Run.objects.count() == THREADS
    assert states(experiment) == {"running": THREADS, "waiting": 40 - THREADS}


def test_runs_that_end_at_once_are_each_followed_by_one(project):
    experiment = an_experiment(project, tasks=20)
    experiment_advance(experiment.pk)
    ends = [
        lambda run=run: (end(run, best_round=None), experiment_advance(experiment.pk))
        for run in going(experiment)
    ]
    results = at_once(*ends)
    assert [result for result in results if isinstance(result, Exception)] == []
    assert states(experiment) == {"done": THREADS, "running": THREADS, "waiting": 40 - 2 * THREADS}


def test_pausing_and_stopping_end_all_calls_and_resuming_goes_on(project, scene):
    scene.server.latency = LONG
    experiment = an_experiment(project, tasks=6, version=a_rubric(project))
    with worker_threads(THREADS):
        scene.server.wait_for(lambda: under_way(scene) == THREADS)
        began = time.monotonic()
        experiment_pause(experiment, None)
        scene.server.wait_for(lambda: under_way(scene) == 0)
        assert time.monotonic() - began < 10  # a second or two, on a machine that is not busy
        assert not Run.objects.exclude(status="paused").exists()
        experiment_resume(experiment, None)
        scene.server.wait_for(lambda: under_way(scene) == THREADS)
        experiment_cancel(experiment, None)
        scene.server.wait_for(lambda: under_way(scene) == 0)
    assert states(experiment) == {"cancelled": THREADS, "waiting": 12 - THREADS}


def test_a_single_run_passes_the_experiments_others(project, scene):
    """It is carried out while most of the experiment has not begun."""
    scene.server.latency = 0.1
    experiment = an_experiment(project, tasks=15, version=a_rubric(project))
    with worker_threads(THREADS):
        scene.server.wait_for(lambda: ExperimentRun.objects.filter(state="done").exists())
        single = scene.launch(rubric(1))
        scene.server.wait_for(lambda: Run.objects.get(pk=single.pk).started_at)
        not_begun = ExperimentRun.objects.filter(experiment=experiment, state="waiting").count()
        scene.server.wait_for(lambda: states(experiment) == {"done": 30})
        scene.server.wait_for(lambda: refreshed(experiment).status == "finished")
    assert not_begun > 0
    assert refreshed(experiment).finished_at <= timezone.now()
    assert Run.objects.filter(experiment=experiment).count() == 30
    assert scene.asked("judge") == 31


def test_reports_and_deliveries_take_turns_with_runs(project):
    """An experiment that keeps all threads busy delays neither its own figures nor webhooks."""
    wanted = (compute_report, deliver_webhook, advance_run)
    for actor in wanted:
        actor.send(1)
    claimed = rows.claim("default", "runs", "worker", 3)
    assert [json.loads(row.body)["actor_name"] for row in claimed] == [actor.actor_name for actor in wanted]


def refreshed(experiment):
    experiment.refresh_from_db()
    return experiment
