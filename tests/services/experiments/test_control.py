"""Pause, resume, cancel, run what is missing, add a configuration, choose a baseline."""

import pytest
from django.core.exceptions import ValidationError

from refinement.models import AuditEntry, Event, ExperimentRun, LiveText, QueuedMessage, Run
from refinement.services.experiments.control import (
    baseline_choose,
    budget_change,
    configuration_add,
    experiment_cancel,
    experiment_pause,
    experiment_resume,
    experiment_run_missing,
)
from refinement.services.runs.lifecycle import WrongState
from tests.services.experiments.given import (
    a_configuration,
    a_rubric,
    an_experiment,
    dealt,
    end,
    end_all,
    going,
    states,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def under_way(project, editor, monkeypatch):
    """One of six runs has ended, three are under way: queued, running and waiting for a person."""
    experiment = an_experiment(project, tasks=3, user=editor)
    dealt(experiment, 4, monkeypatch)
    first, second, _, fourth = going(experiment)
    end(first)
    Run.objects.filter(pk=second.pk).update(status="running", lease_owner="a worker", attempt=3)
    LiveText.objects.create(run=second, attempt=3, position=1, text="The")
    Run.objects.filter(pk=fourth.pk).update(status="paused", plateau_asked=True)
    return experiment


def statuses(experiment):
    return sorted(run.status for run in Run.objects.filter(experiment=experiment))


def test_a_pause_starts_no_more_and_pauses_those_under_way(under_way, editor, monkeypatch):
    experiment_pause(under_way, editor)
    assert statuses(under_way) == ["finished", "paused", "paused", "paused"]
    second = Run.objects.get(attempt=4)  # fenced: the worker cannot write any more
    assert second.lease_owner == ""
    assert not LiveText.objects.exists()
    assert Event.objects.filter(kind="paused").count() == 2
    assert dealt(under_way, 9, monkeypatch) == 0
    assert states(under_way) == {"done": 1, "running": 3, "waiting": 2}
    assert AuditEntry.objects.get(action="experiment.pause").after == {"status": "paused", "runs": 2}
    with pytest.raises(WrongState, match="is paused; only a running experiment can be paused"):
        experiment_pause(under_way, editor)


def test_resuming_continues_all_but_those_that_ask_a_person(under_way, editor, monkeypatch):
    experiment_pause(under_way, editor)
    QueuedMessage.objects.all().delete()
    experiment_resume(under_way, editor)
    assert statuses(under_way) == ["finished", "paused", "queued", "queued"]
    assert QueuedMessage.objects.filter(body__contains="advance_run").count() == 2
    assert QueuedMessage.objects.filter(body__contains="advance_experiment").count() == 1
    assert dealt(under_way, 9, monkeypatch) == 2
    with pytest.raises(WrongState, match="is running; only a paused"):
        experiment_resume(under_way, editor)


def test_resuming_needs_a_larger_budget_once_it_is_used_up(project, editor, monkeypatch):
    experiment = an_experiment(project, token_budget=100)
    dealt(experiment, 1, monkeypatch)
    end(going(experiment)[0], prompt_tokens=150)
    dealt(experiment, 1, monkeypatch)
    with pytest.raises(WrongState, match="used up: 150 of 100 tokens"):
        experiment_resume(experiment, editor)
    with pytest.raises(ValidationError):
        experiment_resume(experiment, editor, token_budget=0)
    experiment = experiment_resume(experiment, editor, token_budget=1_000)
    assert (experiment.status, experiment.status_reason, experiment.token_budget) == ("running", "", 1_000)
    assert dealt(experiment, 1, monkeypatch) == 1
    assert budget_change(experiment, None, editor).token_budget is None


def test_cancelling_stops_every_run_and_leaves_the_rest_not_started(under_way, editor, monkeypatch):
    experiment_cancel(under_way, editor)
    under_way.refresh_from_db()
    assert under_way.status == "cancelled"
    assert under_way.finished_at
    assert states(under_way) == {"done": 1, "cancelled": 3, "waiting": 2}
    assert set(Run.objects.values_list("outcome", flat=True)) == {"PASS", "CANCELLED"}
    assert not Run.objects.exclude(status="finished").exists()
    assert dealt(under_way, 9, monkeypatch) == 0
    with pytest.raises(WrongState, match="is stopped"):
        experiment_cancel(under_way, editor)
    with pytest.raises(WrongState, match="run what is missing before adding"):
        configuration_add(under_way, a_configuration(a_rubric(under_way.project), "C"), editor)


def test_many_runs_are_stopped_with_a_few_queries(
    project, editor, monkeypatch, django_assert_max_num_queries
):
    experiment = an_experiment(project, tasks=16)
    dealt(experiment, 32, monkeypatch)
    with django_assert_max_num_queries(45):  # one more a run sends its message; nothing else is for each
        experiment_pause(experiment, editor)
    with django_assert_max_num_queries(80):
        experiment_resume(experiment, editor)
    with django_assert_max_num_queries(220):
        experiment_cancel(experiment, editor)
    assert states(experiment) == {"cancelled": 32}


def test_what_is_missing_is_run_again_and_counts_from_then_on(project, editor, monkeypatch):
    experiment = an_experiment(project, tasks=3)
    dealt(experiment, 6, monkeypatch)
    runs = going(experiment)
    for run, outcome, fields in zip(
        runs,
        ("PASS", "ERROR", "ERROR", "CANCELLED", "FAIL", "DONE"),
        ({}, {"failure_role": "judge"}, {"failure_role": "producer"}, {}, {}, {}),
        strict=True,
    ):
        end(run, outcome, **fields)
    assert states(experiment) == {"done": 3, "unscored": 1, "error": 1, "cancelled": 1}
    dealt(experiment, 6, monkeypatch)
    assert experiment_run_missing(experiment, editor) == 3
    experiment.refresh_from_db()
    assert (experiment.status, experiment.finished_at) == ("running", None)
    assert states(experiment) == {"done": 3, "waiting": 3}
    assert ExperimentRun.objects.filter(replaced=True).count() == 3
    end_all(experiment, monkeypatch)
    assert states(experiment) == {"done": 6}
    assert Run.objects.filter(experiment=experiment).count() == 9
    with pytest.raises(WrongState, match="Nothing is missing"):
        experiment_run_missing(experiment, editor)


def test_what_a_stopped_experiment_never_started_is_run(under_way, editor, monkeypatch):
    experiment_cancel(under_way, editor)
    assert experiment_run_missing(under_way, editor) == 5
    end_all(under_way, monkeypatch)
    assert states(under_way) == {"done": 6}


def test_while_it_runs_only_failed_cells_are_run_again(under_way, editor):
    with pytest.raises(WrongState, match="Nothing is missing"):
        experiment_run_missing(under_way, editor)
    end(going(under_way)[0], "ERROR", None, failure_role="producer")
    assert experiment_run_missing(under_way, editor) == 1
    assert states(under_way) == {"done": 1, "running": 2, "waiting": 3}


def test_a_configuration_is_added_later(project, editor, monkeypatch):
    experiment = an_experiment(project, repeats=2)
    end_all(experiment, monkeypatch)
    version = a_rubric(project)
    with pytest.raises(ValidationError, match="already a configuration"):
        configuration_add(experiment, a_configuration(version, "b"), editor)
    added = configuration_add(experiment, a_configuration(version, "C", baseline=True), editor)
    assert (added.letter, added.baseline) == ("C", True)
    experiment.refresh_from_db()
    assert experiment.status == "running"
    assert states(experiment) == {"done": 8, "waiting": 4}
    assert experiment.configurations.get(baseline=True) == added
    end_all(experiment, monkeypatch)
    experiment.refresh_from_db()
    assert experiment.status == "finished"


def test_an_added_configuration_is_compared_on_the_same_tasks_first(project, editor):
    experiment = an_experiment(project, tasks=3)
    configuration_add(experiment, a_configuration(a_rubric(project), "C"), editor)
    keys = list(experiment.runs.values_list("task__key", flat=True))
    assert keys == [f"task-{number}" for number in (1, 2, 3) for _ in range(3)]


def test_another_baseline(project, editor):
    experiment = an_experiment(project)
    second = experiment.configurations.get(name="B")
    baseline_choose(second, editor)
    baseline_choose(second, editor)
    assert experiment.configurations.get(baseline=True) == second
    assert AuditEntry.objects.filter(action="experiment.baseline").first().after == {"baseline": "B"}
