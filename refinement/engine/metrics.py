"""Metrics of a run and of a suite of runs. The first-round score counts most, because rounds cost time."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from refinement.engine.scoring import best_round
from refinement.engine.types import Assessment, History, Rubric


@dataclass(frozen=True, slots=True)
class RunMetrics:
    """Composites on the rubric's scale (first, best and last round); None before the first judgement."""

    r1: Decimal | None
    best: Decimal | None
    last: Decimal | None
    improvement: Decimal | None
    best_round: int | None
    rounds: int


def run_metrics(rubric: Rubric, history: History) -> RunMetrics:
    composites = [entry.assessment.composite for entry in history.rounds if entry.assessment is not None]
    best = best_round(rubric, history.rounds)
    if best is None or best.assessment is None:
        return RunMetrics(None, None, None, None, None, 0)
    return RunMetrics(
        r1=composites[0],
        best=best.assessment.composite,
        last=composites[-1],
        improvement=composites[-1] - composites[0],
        best_round=best.number,
        rounds=len(composites),
    )


def criteria_met(rubric: Rubric, assessment: Assessment) -> tuple[bool, ...]:
    """Whether each check passed and each criterion reached `Rubric.criterion_mark`, under every profile."""
    met = (assessment.scores[criterion.key] >= rubric.mark_of(criterion.key) for criterion in rubric.criteria)
    return (*(result.passed for result in assessment.checks), *met)


def criteria_rate(met: Sequence[bool]) -> Decimal:
    """The share of checks and criteria that were met, see `criteria_met`; 1 for a suite without any."""
    return Decimal(sum(met)) / len(met) if met else Decimal(1)


def suite_composite(mean_r1: Any, rate: Any) -> Any:
    """The score of a suite from 0 to 10: 70 % mean first-round score and 30 % criteria rate.

    `mean_r1` is from 0 to 10 and `rate` from 0 to 1: Decimals, floats or arrays. As it is linear, it is also
    the score of a single run, and the mean of the runs' scores is the suite's.
    """
    return (7 * mean_r1 + 30 * rate) / 10
