"""What an experiment may cost: the sum of its parts, whatever their number."""

from dataclasses import replace

import pytest

from refinement.engine.codec import rubric_with
from refinement.engine.profiles import rubric_for
from refinement.models import ModelPrice
from refinement.selectors.experiments.estimates import (
    Planned,
    TaskSizes,
    experiment_estimate,
    groups_of,
)
from refinement.selectors.launch.estimates import estimate_of
from tests.services.experiments.given import JUDGE, PRODUCER

pytestmark = pytest.mark.django_db
RUBRIC = rubric_for("wiggum")


def planned(name: str = "A", **more) -> Planned:
    return Planned(name, more.pop("definition", RUBRIC), PRODUCER, JUDGE, **more)


def estimated(project, tasks, configurations=None, repeats=1, **more):
    return experiment_estimate(
        project=project, configurations=configurations or [planned()], tasks=tasks, repeats=repeats, **more
    )


def test_one_task_costs_what_a_run_costs(project):
    alone = estimate_of(RUBRIC, task_chars=400, seed_chars=0)
    found = estimated(project, [TaskSizes(400)])
    assert (found.runs, found.calls, found.tokens) == (1, alone.calls, alone.tokens)


def test_tasks_configurations_and_repeats_multiply(project):
    one = estimated(project, [TaskSizes(400)])
    found = estimated(project, [TaskSizes(400)] * 50, [planned("A"), planned("B")], repeats=3)
    assert found.runs == 300
    assert (found.calls.low, found.calls.high) == (300 * one.calls.low, 300 * one.calls.high)
    assert [part.runs for part in found.configurations] == [150, 150]


def test_long_tasks_and_sources_cost_more(project):
    short = estimated(project, [TaskSizes(400)])
    long = estimated(project, [TaskSizes(400, sources=(9_000,))])
    ours = estimated(project, [TaskSizes(400)], [planned(sources=(9_000,))])
    assert short.tokens.high < long.tokens.high == ours.tokens.high


def test_tasks_are_grouped_so_that_their_number_does_not_matter():
    sizes = [TaskSizes(100 + number, seed=number % 2) for number in range(1_000)]
    groups = groups_of(sizes)
    assert len(groups) <= 12
    assert sum(group.count for group in groups) == 1_000
    assert all(group.sizes.seed in (0, 1) for group in groups)


def test_says_when_a_budget_may_not_suffice_and_when_runs_ask_people(project):
    asking = rubric_with(rubric_for("simmer"), {"policy.on_plateau": "ask"})
    found = estimated(
        project, [TaskSizes(400)], [planned(), planned("B", definition=asking)], token_budget=10
    )
    assert found.over_budget
    assert [part.asks for part in found.configurations] == [False, True]
    assert not replace(found, token_budget=None).over_budget


def test_prices_are_summed(project):
    ModelPrice.objects.create(endpoint="ollama", model="loopback:8b", prompt=1, completion=2)
    one = estimated(project, [TaskSizes(400)]).cost
    ten = estimated(project, [TaskSizes(400)] * 10).cost
    assert one is not None
    assert one.priced == ["loopback:8b"]
    assert not one.all_priced
    assert ten.low == pytest.approx(10 * one.low, rel=0.1)
