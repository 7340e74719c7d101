"""Starting runs: a limited number, in order, within the budget; lost and duplicate messages are harmless."""

import pytest
from django.core.exceptions import ValidationError

from refinement.models import ExperimentRun, QueuedMessage, Report, Run, Webhook, WorkerBeat
from refinement.selectors.experiments.windows import window_of
from refinement.services.experiments.dealing import experiment_advance, experiments_sweep
from refinement.services.runs.lifecycle import run_cancel, run_pause
from tests.services.experiments.given import an_experiment, dealt, end, end_all, going, states

pytestmark = pytest.mark.django_db


def test_starts_as_many_runs_as_there_is_room_for(project, monkeypatch):
    experiment = an_experiment(project, tasks=6)
    assert dealt(experiment, 5, monkeypatch) == 5
    assert states(experiment) == {"running": 5, "waiting": 7}
    assert Run.objects.count() == 5
    assert dealt(experiment, 5, monkeypatch) == 0  # a message twice
    first = going(experiment)[0]
    end(first)
    assert dealt(experiment, 5, monkeypatch) == 1
    assert states(experiment) == {"done": 1, "running": 5, "waiting": 6}
    started = ExperimentRun.objects.exclude(state="waiting").order_by("order")
    assert list(started) == list(ExperimentRun.objects.order_by("order")[:6])


def test_starts_more_than_one_transaction_takes(project, monkeypatch):
    experiment = an_experiment(project, tasks=10)
    assert dealt(experiment, 19, monkeypatch) == 19


def test_a_run_that_a_person_paused_takes_no_room(project, monkeypatch):
    experiment = an_experiment(project, tasks=3)
    dealt(experiment, 2, monkeypatch)
    run_pause(run=going(experiment)[0])
    assert dealt(experiment, 2, monkeypatch) == 1


def test_is_finished_when_all_runs_have_ended(project, editor, monkeypatch):
    experiment = an_experiment(project, user=editor)
    end_all(experiment, monkeypatch)
    experiment.refresh_from_db()
    assert experiment.status == "finished"
    assert experiment.finished_at
    assert states(experiment) == {"done": 4}
    finished_at = experiment.finished_at
    experiment_advance(experiment.pk)  # a message too many
    experiment.refresh_from_db()
    assert experiment.finished_at == finished_at


def test_runs_end_without_a_notice_or_review_of_their_own(project, editor, monkeypatch):
    Webhook.objects.create(project=project, address="http://localhost:1/", events=["run.finished"])
    end_all(an_experiment(project, user=editor), monkeypatch)
    assert not editor.notices.filter(run__isnull=False).exists()
    assert not project.webhooks.get().deliveries.exists()


def test_the_end_of_each_run_asks_for_the_figures(project, monkeypatch):
    experiment = an_experiment(project)
    dealt(experiment, 2, monkeypatch)
    end(going(experiment)[0])
    asked = Report.objects.get(kind="experiment", subject=experiment.pk).asked
    end(going(experiment)[0])
    assert Report.objects.get(kind="experiment", subject=experiment.pk).asked == asked + 1


def test_the_budget_pauses_it_and_lets_runs_under_way_end(project, monkeypatch):
    experiment = an_experiment(project, tasks=3, token_budget=1_000)
    dealt(experiment, 2, monkeypatch)
    end(going(experiment)[0], prompt_tokens=400, completion_tokens=200)
    assert dealt(experiment, 2, monkeypatch) == 1
    Run.objects.filter(pk=going(experiment)[0].pk).update(prompt_tokens=400)  # under way
    end(going(experiment)[1], prompt_tokens=1)
    assert dealt(experiment, 2, monkeypatch) == 0
    experiment.refresh_from_db()
    assert experiment.status == "paused"
    assert experiment.status_reason == "The experiment's budget is used up: 1,001 of 1,000 tokens."
    (last,) = going(experiment)
    assert last.status == "queued"
    end(last)
    assert dealt(experiment, 2, monkeypatch) == 0
    experiment.refresh_from_db()
    assert experiment.status == "paused"


def test_a_budget_that_suffices_to_the_end_pauses_nothing(project, monkeypatch):
    experiment = an_experiment(project, tasks=1, token_budget=10)
    dealt(experiment, 2, monkeypatch)
    for run in going(experiment):
        end(run, prompt_tokens=100)
    dealt(experiment, 2, monkeypatch)
    experiment.refresh_from_db()
    assert experiment.status == "finished"


def test_the_projects_budget_pauses_it(project, monkeypatch):
    experiment = an_experiment(project)
    project.monthly_tokens = 0
    project.save()
    assert dealt(experiment, 2, monkeypatch) == 0
    experiment.refresh_from_db()
    assert experiment.status == "paused"
    assert "used up its budget for this month" in experiment.status_reason


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            ValidationError({"rubric": "The evaluator is not allowed here."}),
            "The evaluator is not allowed here.",
        ),
        (KeyError("boom"), "Unexpected error (KeyError)"),
    ],
)
def test_a_run_that_cannot_be_started_says_why_and_stops_no_other(project, monkeypatch, error, words):
    from refinement.services.experiments import dealing

    create = dealing.run_create

    def fails_once(**given):
        if given["task"] == "Explain task-1.":
            raise error
        return create(**given)

    experiment = an_experiment(project)
    monkeypatch.setattr(dealing, "run_create", fails_once)
    dealt(experiment, 10, monkeypatch)
    assert states(experiment) == {"error": 2, "running": 2}
    for cell in ExperimentRun.objects.filter(state="error"):
        assert words in cell.problem
        assert cell.run is None


def test_a_dealing_that_is_cut_off_leaves_nothing_behind(project, monkeypatch):
    """As `kill -9` does: the transaction is rolled back, and the next message starts the same runs."""
    from refinement.services.experiments import dealing

    create, made = dealing.run_create, []

    def killed_at_the_third(**given):
        made.append(given)
        if len(made) == 3:
            raise KeyboardInterrupt
        return create(**given)

    experiment = an_experiment(project)
    monkeypatch.setattr(dealing, "run_create", killed_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        dealt(experiment, 10, monkeypatch)
    assert states(experiment) == {"waiting": 4}
    assert not Run.objects.exists()
    assert dealt(experiment, 10, monkeypatch) == 4
    assert Run.objects.count() == 4


def test_a_lost_message_is_sent_again(project, monkeypatch):
    experiment = an_experiment(project)
    monkeypatch.setattr("refinement.services.experiments.dealing.window_of", lambda row: 2)
    messages = QueuedMessage.objects.filter(body__contains="advance_experiment")
    for lose_and_do in (
        lambda: None,  # the first message
        lambda: end(going(experiment)[0]),  # the message of an end
        lambda: [end(run) for run in going(experiment)],
        lambda: [end(run) for run in going(experiment)],  # the last end
    ):
        lose_and_do()
        messages.delete()
        assert experiments_sweep() == 1
        assert messages.count() == 1
        experiment_advance(experiment.pk)
        if going(experiment):
            assert experiments_sweep() == 0  # the window is full
    experiment.refresh_from_db()
    assert experiment.status == "finished"
    messages.delete()
    assert experiments_sweep() == 0


def test_a_cancelled_run_makes_room(project, monkeypatch):
    experiment = an_experiment(project, tasks=2)
    dealt(experiment, 1, monkeypatch)
    run_cancel(run=going(experiment)[0])
    assert states(experiment) == {"cancelled": 1, "waiting": 3}
    assert dealt(experiment, 1, monkeypatch) == 1


@pytest.mark.parametrize(
    ("threads", "concurrency", "window"),
    [((), None, 8), ((4, 3), None, 7), ((4,), 1, 3), ((1,), 1, 2), ((32,), 4, 6)],
)
def test_the_window_is_as_wide_as_workers_and_endpoints(
    project, settings, monkeypatch, threads, concurrency, window
):
    import json

    from django.utils import timezone

    entry = {"name": "ours", "kind": "ollama", "url": "http://localhost:1", "concurrency": concurrency}
    monkeypatch.setenv("WIGGUM_ENDPOINTS", json.dumps([entry]))
    now = timezone.now()
    for number, count in enumerate(threads):
        WorkerBeat.objects.create(name=str(number), started_at=now, seen_at=now, threads=count, version="1")
    experiment = an_experiment(project)
    experiment.configurations.update(producer_endpoint="ours", judge_endpoint="ours")
    assert window_of(experiment) == window
