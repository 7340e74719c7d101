"""The parts of a score, if checks count in addition to the judge's criteria."""

from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Check, Composite
from refinement.selectors.runs.score_parts import score_parts

CHECKS = (Check("has-heading", "heading", weight=Decimal(3)), Check("short", "length"))


def a_rubric(**policy):
    rubric = rubric_for("ralph")
    criteria = rubric_for("wiggum").criteria[:1]
    return replace(rubric, criteria=criteria, checks=CHECKS, policy=replace(rubric.policy, **policy))


KEY = a_rubric().criteria[0].key


@pytest.mark.parametrize(
    ("shares", "policy", "composite", "words"),
    [
        ((1, 1), {"composite": Composite.PLAIN_MEAN}, "0.88", "0.88 = checks 1.00 (67 % of the weight)"),
        ((1, 0), {"composite": Composite.PLAIN_MEAN}, "0.5466666666", "checks 0.50"),
        ((1, Decimal("0.5")), {"composite": Composite.PLAIN_MEAN}, "0.7133333333", "checks 0.75"),
        ((1, 1), {"composite": Composite.PLAIN_MEAN}, "0", ""),  # a rule set it to the lowest score
        ((1, 1), {"checks_in_composite": False}, "0.64", ""),
    ],
)
def test_parts(shares, policy, composite, words):
    given = dict(zip(("has-heading", "short"), map(Decimal, shares), strict=True))
    found = score_parts(a_rubric(**policy), Decimal(composite), {KEY: "0.64"}, given)
    assert words in found
    assert bool(found) == bool(words)
    assert not found or "criteria 0.64" in found
