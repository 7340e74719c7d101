"""The progress of an experiment, and the events for its open pages."""

import json
from decimal import Decimal

import pytest

from refinement.selectors.experiments.progress import glances_at, progress_of
from refinement.services.experiments.control import experiment_cancel
from refinement.streaming.experiments import ExperimentWatcher, collect_experiments
from tests.services.experiments.given import an_experiment, dealt, end, going

pytestmark = pytest.mark.django_db


def test_progress_counts_what_counts(project, monkeypatch, django_assert_num_queries):
    experiment = an_experiment(project, tasks=3)
    dealt(experiment, 3, monkeypatch)
    first, second, _ = going(experiment)
    end(first, prompt_tokens=30, cost=Decimal("0.5"))
    end(second, "ERROR", None, failure_role="judge", prompt_tokens=12)
    with django_assert_num_queries(1):
        progress = progress_of(experiment)
    assert progress.states == {"done": 1, "unscored": 1, "running": 1, "waiting": 3}
    assert (progress.total, progress.ended, progress.done, progress.without_result) == (6, 2, 1, 1)
    assert (progress.percent, progress.tokens, progress.cost) == (33, 42, Decimal("0.5"))


def told(watcher) -> list[dict]:
    found = []
    while not watcher.queue.empty():
        text = watcher.queue.get_nowait().decode()
        assert text.startswith("event: changed\n")
        found.append(json.loads(text.split("data: ")[1]))
    return found


def test_pages_are_told_of_every_change_once(project, monkeypatch, django_assert_num_queries):
    experiment, other = an_experiment(project), an_experiment(project)
    watcher = ExperimentWatcher(run_id=experiment.pk, user_id=1, project_id=1, session="", after=0)
    with django_assert_num_queries(4):
        glances_at([experiment.pk, other.pk])

    def look() -> list[dict]:
        watcher.send_news(collect_experiments({experiment.pk: None})[experiment.pk])
        return told(watcher)

    (first,) = look()
    assert (first["status"], first["states"], first["total"]) == ("running", {"waiting": 4}, 4)
    assert look() == []
    dealt(experiment, 1, monkeypatch)
    assert look()[0]["states"] == {"running": 1, "waiting": 3}
    end(going(experiment)[0])
    assert look()[0]["states"] == {"done": 1, "waiting": 3}
    experiment_cancel(experiment, None)
    (last,) = look()
    assert (last["status"], last["ended"]) == ("cancelled", True)
    assert collect_experiments({experiment.pk + 1_000: None}) == {}
