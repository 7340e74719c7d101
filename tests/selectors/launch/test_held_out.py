"""A launch with a held-out judge: estimate, destinations of the text, and warnings."""

from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.profiles import rubric_for
from refinement.models import ModelPrice
from refinement.providers.base import ModelInfo
from refinement.providers.registry import EndpointSpec, Target
from refinement.selectors.launch.available_models import Offer
from refinement.selectors.launch.checks import privacy_words
from refinement.selectors.launch.estimates import Range, estimate_of
from refinement.selectors.launch.plans import plan_of
from refinement.selectors.launch.warnings import warnings_for

pytestmark = pytest.mark.django_db
WRITER, JUDGE, OTHER = Target("ollama", "qwen3:14b"), Target("ollama", "gemma3:27b"), Target("lab", "big:70b")
MODELS = Offer("ollama", (ModelInfo("qwen3:14b", "qwen3"), ModelInfo("gemma3:27b", "gemma3")))


def planned(project, held_out=OTHER, rubric=None, repeats=1):
    return plan_of(
        project, rubric or rubric_for("wiggum"), task_chars=100, seed_chars=900, source_chars=(),
        producer=WRITER, judge=JUDGE, clerk=None, held_out=held_out, repeats=repeats,
    )  # fmt: skip


def test_its_two_calls_are_in_the_estimate_of_each_repeat(project):
    with_it, without = planned(project, repeats=3).estimate, planned(project, None, repeats=3).estimate
    assert without.held_out is None
    assert with_it.held_out.calls == Range(0, 6)  # none where the first round is the best
    assert with_it.calls == Range(without.calls.low, without.calls.high + 6)
    assert with_it.tokens.low == without.tokens.low
    assert with_it.tokens.high > without.tokens.high
    assert with_it.roles == without.roles


def test_a_single_round_has_no_gain_to_check():
    rubric = rubric_for("wiggum")
    once = replace(rubric, policy=replace(rubric.policy, max_rounds=1))
    assert estimate_of(once, task_chars=10, seed_chars=0, held_out=True).held_out.calls == Range(0, 0)


def test_the_runs_own_limit_does_not_hold_it_back(project):
    rubric = rubric_for("wiggum")
    budget = replace(rubric.policy.budget, calls=2, tokens=500)
    tight = replace(rubric, policy=replace(rubric.policy, budget=budget))
    assert planned(project, rubric=tight).estimate.calls.high == 4
    assert planned(project, rubric=tight).estimate.tokens.high > 500


def test_its_price_is_in_the_cost(project):
    ModelPrice.objects.create(endpoint="lab", model="big:70b", prompt=10, completion=30)
    found = planned(project)
    share = found.estimate.held_out
    replies = share.replies.high
    assert found.cost.priced == ["big:70b"]
    assert found.cost.low == 0
    assert found.cost.high == Decimal(10 * (share.tokens.high - replies) + 30 * replies) / 1_000_000
    assert planned(project, None).cost is None


def test_a_price_of_the_loops_judge_is_not_scaled_by_it(project):
    ModelPrice.objects.create(endpoint="ollama", model="gemma3:27b", prompt=10, completion=30)
    assert planned(project).cost.high == planned(project, None).cost.high


def test_texts_that_only_it_sends_away_are_said(project):
    specs = [
        EndpointSpec("ollama", "ollama", url="http://127.0.0.1:11434"),
        EndpointSpec("lab", "openai", url="https://models.example.org"),
    ]
    assert privacy_words(planned(project, None), specs) == "Nothing leaves this server."
    assert privacy_words(planned(project), specs) == "Nothing leaves this server except the calls to lab."


@pytest.mark.parametrize(
    ("offer", "code", "words"),
    [
        (None, "no-endpoint-lab", "The held-out judge uses lab/big:70b. It cannot be asked."),
        (
            Offer("lab", problem="It is off."),
            "away-held-out-judge",
            "It is off. The held-out judge is asked when the model server responds.",
        ),
        (Offer("lab"), "unknown-held-out-judge", "lab has no model big:70b. It may not answer."),
    ],
)
def test_what_keeps_it_from_answering_is_said_before(project, offer, code, words):
    found = warnings_for(planned(project), [MODELS, *([offer] if offer else [])])
    assert (code, words) in [(caution.code, caution.words) for caution in found]


def test_without_criteria_no_judge_is_asked(project):
    plan = planned(project, rubric=rubric_for("ralph"))
    assert (plan.held_out, plan.estimate.held_out) == (None, None)
