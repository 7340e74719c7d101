"""What a measurement's judge said about each text, with a board merged as a bench merges it.

In a measurement each judge of a board scores alone, without deliberation or a clerk: the board's score is the
lower median of its judges, per criterion.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from refinement.engine.boards import lower_median, quorum
from refinement.engine.results import Assessment
from refinement.engine.scoring import composite, passes
from refinement.engine.types import CheckResult, Rubric
from refinement.models import BenchTrial, Measurement, TrialStatus


@dataclass(frozen=True, slots=True)
class Judgement:
    """One scoring of a text, in one repeat."""

    number: int
    scores: Mapping[str, Decimal]
    composite: Decimal
    passed: bool
    reasons: Mapping[str, str]  # by criterion; of a board from its first judge


def judgements_of(
    measurement: Measurement, rubric: Rubric, *, among: Collection[int] | None = None
) -> dict[int, list[Judgement]]:
    """The done judgements by item, in the order of the repeats; `among` are items. One query."""
    rows = BenchTrial.objects.filter(bench__measured__measurement=measurement, status=TrialStatus.DONE)
    if among is not None:
        rows = rows.filter(bench__measured__in=among)
    rows = rows.order_by("bench__measured__pk", "number", "seat")
    values = rows.values_list("bench__measured__pk", "number", "scores", "composite", "checks", "said")
    grouped: dict[tuple[int, int], list[Answer]] = {}
    for item, number, scores, total, checks, said in values:
        if total is not None and scores is not None:
            grouped.setdefault((item, number), []).append(Answer(scores, total, checks, said))
    needed = quorum(len(measurement.panel)) if measurement.panel else 1
    found: dict[int, list[Judgement]] = {}
    for (item, number), answers in grouped.items():
        if len(answers) >= needed:
            found.setdefault(item, []).append(judgement_of(number, answers, rubric))
    return found


@dataclass(frozen=True, slots=True)
class Answer:
    """What one judge said in one repeat, as its trial stores it."""

    scores: Mapping[str, str]
    composite: Decimal
    checks: Sequence[Mapping[str, object]]
    said: Iterable[Mapping[str, str]]


def judgement_of(number: int, answers: Sequence[Answer], rubric: Rubric) -> Judgement:
    first = answers[0]
    scores = {key: Decimal(value) for key, value in first.scores.items()}
    total, checks = first.composite, check_results(first.checks, rubric)
    if len(answers) > 1:
        scores = {key: lower_median([Decimal(each.scores[key]) for each in answers]) for key in scores}
        total = round(composite(rubric, scores, checks), 6)
    passed = passes(rubric, Assessment(composite=total, scores=scores, checks=checks))
    reasons = {entry["key"]: entry.get("reasoning", "") for entry in first.said}
    return Judgement(number, scores, total, passed, reasons)


def check_results(values: Iterable[Mapping[str, object]], rubric: Rubric) -> tuple[CheckResult, ...]:
    """The check results as a trial stores them."""
    defined = {check.key: check for check in rubric.checks}
    return tuple(
        CheckResult(
            key=str(entry["key"]),
            passed=bool(entry["passed"]),
            message=str(entry["message"]),
            severity=defined[str(entry["key"])].severity,
            weight=defined[str(entry["key"])].weight,
        )
        for entry in values
        if str(entry["key"]) in defined
    )
