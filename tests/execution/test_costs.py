"""A run's calls cost what their models cost at its launch."""

import json
from decimal import Decimal

import pytest

from refinement.execution.advancing import run_advance
from refinement.models import Call, ModelPrice, Run
from refinement.providers.registry import Target
from refinement.selectors.rubrics.definitions import version_named
from refinement.selectors.runs.costs import role_costs
from refinement.services.rubrics.editing import default_rubrics_install
from refinement.services.runs.creating import run_create
from tests.loopback.fixtures import ollama_server
from tests.loopback.replies import from_lists

__all__ = ["ollama_server"]
pytestmark = pytest.mark.django_db(transaction=True)
KEYS = ("depth", "relevance", "completeness", "grounded", "specificity", "structure")
WRITER, JUDGE = Target("ollama", "loopback:1b"), Target("ollama", "loopback:8b")


@pytest.fixture(autouse=True)
def _models(project, ollama_server, monkeypatch):
    said = [json.dumps({**dict.fromkeys(KEYS, 5 + n), "issues": ["x"]}) for n in range(3)]
    ollama_server.replies = from_lists({"judge": said, "producer": ["One", "Two"]})
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    default_rubrics_install(project=project)


def carried_out(project) -> Run:
    version = version_named(project, "wiggum")
    run = run_create(project=project, version=version, task="t", seed="x", producer=WRITER, judge=JUDGE)
    ModelPrice.objects.update(prompt=1_000)  # too late for this run
    run_advance(run.pk)
    return Run.objects.get(pk=run.pk)


def test_a_call_to_a_model_with_a_price_has_a_cost(project):
    ModelPrice.objects.create(endpoint="ollama", model="loopback:8b", prompt=2, completion=6)
    run = carried_out(project)
    for call in run.calls.filter(role="judge"):
        assert call.cost == Decimal(2 * call.prompt_tokens + 6 * call.completion_tokens) / 1_000_000
    assert run.cost == sum(call.cost for call in run.calls.filter(role="judge")) > 0
    assert not run.calls.filter(role="producer").exclude(cost=None).exists()


def test_the_costs_of_a_run_by_role(project, django_assert_num_queries):
    ModelPrice.objects.create(endpoint="ollama", model="loopback:8b", prompt=2, completion=6)
    run = carried_out(project)
    with django_assert_num_queries(1):
        writer, judge = role_costs(run)
    assert (writer.label, writer.calls, writer.cost) == ("Writer", 2, None)
    assert (judge.label, judge.calls, judge.cost) == ("Judges", 3, run.cost)
    assert writer.tokens + judge.tokens == run.tokens


def test_without_prices_nothing_has_a_cost(project):
    run = carried_out(project)
    assert (run.cost, run.prices) == (None, {})
    assert not Call.objects.exclude(cost=None).exists()


def test_a_model_of_the_same_name_elsewhere_has_its_own_price(project):
    ModelPrice.objects.create(endpoint="cloud", model="loopback:8b", prompt=2, completion=6)
    assert carried_out(project).cost is None
