"""Condenses past rounds to one line each, for judges that may see the history."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from refinement.engine.reflect import Exploration, reflect
from refinement.engine.repeating import noisy_metrics
from refinement.engine.scoring import best_round
from refinement.engine.sentences import round_name
from refinement.engine.steps import is_worse
from refinement.engine.types import (
    Assessment,
    EvaluatorOutput,
    History,
    MetricValue,
    PanelSummary,
    Round,
    Rubric,
)
from refinement.judging.length import shorten

KEY_CHANGE_CHARS = 59
FIRST, EDITED = "seed", "edited by a person"


@dataclass(frozen=True, slots=True)
class NamedScore:
    name: str
    score: Decimal


@dataclass(frozen=True, slots=True)
class NamedMetric:
    """A metric in one round; `found` is None if it was not in the evaluator's output."""

    name: str
    found: MetricValue | None
    noise: bool = False  # the change since the round before is within the spread of its runs


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """A summary of a past round, without its text."""

    label: str
    composite: Decimal
    scores: tuple[NamedScore, ...]
    key_change: str
    metrics: tuple[NamedMetric, ...] = ()
    regressed: bool = False  # it ranks below the best round before it


def condensed(rubric: Rubric, history: History, before: int, *, measured: bool) -> tuple[HistoryLine, ...]:
    """The judged rounds before this one; with their metrics if `measured`."""
    return tuple(
        _line(rubric, history, entry, entry.assessment, measured=measured)
        for entry in history.rounds
        if entry.number < before and entry.assessment is not None
    )


def _line(
    rubric: Rubric, history: History, entry: Round, assessment: Assessment, *, measured: bool
) -> HistoryLine:
    driver = assessment_of(history, entry.number - 1)
    return HistoryLine(
        label=round_name(entry.number),
        composite=round(assessment.composite, rubric.policy.composite_decimals),
        scores=named_scores(rubric, assessment.scores),
        key_change=key_change(entry, driver),
        metrics=named_metrics(rubric, assessment.evaluator, driver) if measured else (),
        regressed=_regressed(rubric, history, entry),
    )


def named_scores(rubric: Rubric, scores: Mapping[str, Decimal]) -> tuple[NamedScore, ...]:
    """The scores in the rubric's order. They use keys, because criteria names may be withheld."""
    keys = (criterion.key for criterion in rubric.criteria)
    return tuple(NamedScore(key, scores[key]) for key in keys if key in scores)


def named_metrics(
    rubric: Rubric, output: EvaluatorOutput | None, before: Assessment | None
) -> tuple[NamedMetric, ...]:
    """The rubric's metrics in their order, found or not; none if no evaluator ran."""
    if output is None:
        return ()
    noise = noisy_metrics(output.metrics, before.metrics if before else {})
    names = (metric.name for metric in rubric.evaluator.metrics)
    return tuple(NamedMetric(name, output.metrics.get(name), name in noise) for name in names)


def assessment_of(history: History, number: int) -> Assessment | None:
    return next((entry.assessment for entry in history.rounds if entry.number == number), None)


def asi_of(assessment: Assessment | None) -> str:
    verdicts = assessment.verdicts if assessment else ()
    return next((verdict.asi for verdict in verdicts if verdict.asi), "")


def _regressed(rubric: Rubric, history: History, entry: Round) -> bool:
    """Whether the round ranks below the best one before it, by the ranking that also finds the best round."""
    best = best_round(rubric, [other for other in history.rounds if other.number < entry.number])
    return best is not None and is_worse(rubric, entry, best)


def key_change(entry: Round, driver: Assessment | None) -> str:
    """What the round changed: in the clerk's words, or else what the feedback before it asked for."""
    if entry.key_change:
        return entry.key_change
    if entry.by_hand:
        return EDITED
    if driver is None:
        return FIRST
    issues = (issue for verdict in driver.verdicts for issue in verdict.issues)
    failures = (result.message for result in driver.checks if not result.passed)
    direction = asi_of(driver) or next(issues, "") or next(failures, "") or "not stated"
    return shorten(direction, KEY_CHANGE_CHARS)


def learned(rubric: Rubric, history: History, before: int | None = None) -> PanelSummary | None:
    """What works and what does not: the board's last summary, with the changes that lasted or failed.

    Of the rounds before number `before`, or of all. None if nothing is known.
    """
    rounds = [entry for entry in history.rounds if before is None or entry.number < before]
    said = next((entry.summary for entry in reversed(rounds) if entry.summary), PanelSummary())
    found = reflect(rubric, history, before=before)
    summary = PanelSummary(
        tuple(dict.fromkeys((*said.working, *(change for _, change in found.wins)))),
        tuple(dict.fromkeys((*said.not_working, *(change for _, change in found.failed)))),
        said.direction,
    )
    return None if summary == PanelSummary() else summary


def explored(rubric: Rubric, history: History, before: int | None = None) -> Exploration | None:
    """Which options of the search space were tried; None before there is anything to tell."""
    exploration = reflect(rubric, history, before=before).exploration
    return exploration if exploration.tried else None
