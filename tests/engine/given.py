"""Builders of rubrics, rounds and histories for the engine's tests."""

from dataclasses import replace
from decimal import Decimal

from refinement.engine.profiles import rubric_for
from refinement.engine.scoring import assess
from refinement.engine.types import (
    Assessment,
    CheckResult,
    CriterionScore,
    History,
    Policy,
    Round,
    Rubric,
    Usage,
    Verdict,
)

UNUSED = Usage()


def D(value: str | int) -> Decimal:
    return Decimal(value)


def rubric(profile: str, **policy: object) -> Rubric:
    """The profile's rubric with some fields of its policy changed."""
    base = rubric_for(profile)
    return replace(base, policy=replace(base.policy, **policy))


def scored(composite: str | int | Decimal, **scores: str) -> Assessment:
    """An assessment with this composite; without scores the primary criterion has the composite's value."""
    given = {key: Decimal(value) for key, value in scores.items()} or {"usefulness": Decimal(composite)}
    return Assessment(composite=Decimal(composite), scores=given)


def rounds(*composites: str | int | Decimal) -> tuple[Round, ...]:
    return tuple(
        Round(number, f"candidate {number}", scored(composite))
        for number, composite in enumerate(composites, start=1)
    )


def history(*composites: str | int | Decimal, usage: Usage = UNUSED) -> History:
    return History(rounds(*composites), usage)


def verdict(issues: tuple[str, ...] = (), asi: str = "", **scores: str) -> Verdict:
    return Verdict(
        tuple(CriterionScore(key, Decimal(value), f"why {key}") for key, value in scores.items()),
        issues=issues,
        asi=asi,
    )


def even_verdict(of: Rubric, score: str | Decimal, **rest: object) -> Verdict:
    """The same score for every criterion of the rubric."""
    return verdict(**{criterion.key: str(score) for criterion in of.criteria}, **rest)


def judged(of: Rubric, number: int, score: str | Decimal, **rest: object) -> Round:
    return Round(number, f"candidate {number}", assess(of, even_verdict(of, score, **rest)))


def checks(*passed: bool) -> tuple[CheckResult, ...]:
    return tuple(CheckResult(f"check-{index}", ok) for index, ok in enumerate(passed))


def policy(profile: str = "wiggum") -> Policy:
    return rubric_for(profile).policy
