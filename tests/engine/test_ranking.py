"""One ranking for every comparison: the primary criterion first, then the composite."""

from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.steps import next_step
from refinement.engine.stopping import plateaued, regressed, stopped_improving
from refinement.engine.types import (
    Evaluator,
    EvaluatorOutput,
    History,
    Metric,
    MetricValue,
    Round,
    StopReason,
)
from tests.engine.given import D, rubric, scored

TINY = Decimal("1e-20")


def primaries(*pairs):
    """Rounds by primary score and composite."""
    return History(
        tuple(
            Round(number, "x", scored(composite, usefulness=primary))
            for number, (primary, composite) in enumerate(pairs, 1)
        )
    )


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([("4", "6.7"), ("5", "6.0"), ("6", "5.5"), ("7", "5.0")], False),
        ([("4", "5"), ("4", "5"), ("4", "5"), ("4", D(5) + TINY)], False),
        ([("4", "5"), ("4", "5"), ("4", "5"), ("4", "5")], True),
        ([("4", "5"), ("3", "6"), ("3", "7"), ("3", "8")], True),  # only the composite rose
    ],
)
def test_plateau_goes_by_the_primary_criterion_first(pairs, expected):
    assert plateaued(rubric("simmer"), primaries(*pairs)) is expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (("7", "7"), ("6", "9"), True),
        (("6", "9"), ("7", "7"), False),
        (("7", "7"), ("7", "6"), True),
        (("7", "7"), ("7", "7"), False),
    ],
)
def test_regression_goes_by_the_primary_criterion_first(before, after, expected):
    assert regressed(rubric("simmer"), primaries(before, after)) is expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (("5", "5"), ("6", "3"), False),
        (("5", "5"), ("4", "9"), True),
        (("5", "5"), ("5", "6"), False),
        (("5", "5"), ("5", "5.9"), True),
    ],
)
def test_the_minimum_gain_goes_by_the_primary_criterion_first(before, after, expected):
    assert stopped_improving(rubric("simmer", minimum_gain=D(1)), primaries(before, after)) is expected


def measured(*values):
    """Rounds with the same score, by the value of their metric."""
    entries = (
        replace(scored("6"), evaluator=EvaluatorOutput("", metrics={"accuracy": MetricValue((D(value),))}))
        for value in values
    )
    return History(tuple(Round(number, "x", entry) for number, entry in enumerate(entries, 1)))


@pytest.mark.parametrize(
    ("values", "worse", "flat"),
    [
        ((".5", ".5", ".5", ".5"), False, True),
        ((".5", ".5", ".5", ".6"), False, False),
        ((".5", ".4", ".6", ".5"), True, False),
        ((".5", ".4", ".4", ".3"), True, True),
    ],
)
def test_a_metric_breaks_ties_in_every_rule(values, worse, flat):
    evaluator = Evaluator(("score",), metrics=(Metric("accuracy", pointer="/a"),))
    of = replace(rubric("simmer", stop_rules=(StopReason.SCORE_REGRESSION,)), evaluator=evaluator)
    seen = measured(*values)
    assert (regressed(of, seen), plateaued(of, seen)) == (worse, flat)
    # A metric has its own unit: the minimum gain is in points of the scale.
    assert stopped_improving(replace(of, policy=replace(of.policy, minimum_gain=D(".01"))), seen)
    if worse:
        assert ": the score stayed, and accuracy got worse." in next_step(of, seen).why
