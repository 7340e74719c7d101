"""Figures of a rubric test: each criterion over all trials, next to human scores if any."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from refinement.engine.agreement import (
    Shift,
    Spread,
    differences_from,
    mean_absolute,
    shift_between,
    spread_of,
)
from refinement.engine.scoring import composite
from refinement.engine.types import CheckResult, Rubric, Scale
from refinement.models import Bench, BenchTrial, TrialStatus
from refinement.selectors.score_words import mean_decimals

PLOT_WIDTH = 200
PLOT_HEIGHT = 26
PLOT_EDGE = 11  # space for the largest dot at either end


@dataclass(frozen=True, slots=True)
class Dot:
    """A score on a plot; larger dots are more frequent scores."""

    x: str
    radius: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A row of a dot plot, in SVG units."""

    dots: tuple[Dot, ...]
    mean: str
    people: str  # empty without human scores


@dataclass(frozen=True, slots=True)
class Line:
    """A criterion or the composite over all trials; None for trials without a score."""

    key: str
    name: str
    values: tuple[Decimal | None, ...]
    spread: Spread | None
    people: Decimal | None
    difference: Decimal | None
    plot: Plot | None


@dataclass(frozen=True, slots=True)
class Report:
    """All figures of a test."""

    rubric: Rubric
    trials: tuple[BenchTrial, ...]
    lines: tuple[Line, ...]
    total: Line
    apart: Decimal | None  # mean distance from human scores
    is_board: bool = False  # each trial is a repeat with the board's medians

    @property
    def who(self) -> str:
        return "board" if self.is_board else "judge"

    @property
    def unit(self) -> str:
        return "repeat" if self.is_board else "trial"

    @property
    def done(self) -> int:
        return self.total.spread.count if self.total.spread else 0

    @property
    def digits(self) -> int:
        """Decimals needed to tell means apart on this scale."""
        return mean_decimals(self.rubric.scale.minimum, self.rubric.scale.maximum)


def bench_report(
    rubric: Rubric, trials: Sequence[BenchTrial], people: Mapping[str, str], *, is_board: bool = False
) -> Report:
    """The current figures. Scores are the judge's, composites are computed as in a run."""
    given = {key: Decimal(score) for key, score in people.items()}
    said = [said_scores(trial) for trial in trials]
    means = {
        criterion.key: spread.mean
        for criterion in rubric.criteria
        if (spread := spread_or_none([scores.get(criterion.key) for scores in said]))
    }
    differences = differences_from(given, means)
    lines = tuple(
        line_of(
            criterion.key,
            criterion.name,
            [scores.get(criterion.key) for scores in said],
            rubric.scale,
            given.get(criterion.key),
            differences.get(criterion.key),
        )
        for criterion in rubric.criteria
    )
    total = line_of("", "Composite", [composite_of(rubric, trial) for trial in trials], rubric.scale)
    return Report(rubric, tuple(trials), lines, total, mean_absolute(differences), is_board)


@dataclass(frozen=True, slots=True)
class Reading:
    """A trial's result for one criterion."""

    name: str
    score: Decimal
    reasoning: str
    improvement: str


def readings_of(rubric: Rubric, trial: BenchTrial) -> list[Reading]:
    """The trial's result for each criterion, in the rubric's order."""
    said = {entry["key"]: entry for entry in trial.said}
    return [
        Reading(
            criterion.name,
            Decimal(said[criterion.key]["score"]),
            said[criterion.key].get("reasoning", ""),
            said[criterion.key].get("improvement", ""),
        )
        for criterion in rubric.criteria
        if criterion.key in said
    ]


def said_scores(trial: BenchTrial) -> dict[str, Decimal]:
    if trial.status != TrialStatus.DONE:
        return {}
    return {entry["key"]: Decimal(entry["score"]) for entry in trial.said}


def composite_of(rubric: Rubric, trial: BenchTrial) -> Decimal | None:
    """Computed from the exact scores; the column is rounded for lists."""
    if trial.status != TrialStatus.DONE or trial.scores is None:
        return None
    scores = {key: Decimal(score) for key, score in trial.scores.items()}
    checks = tuple(CheckResult(entry["key"], entry["passed"]) for entry in trial.checks)
    return composite(rubric, scores, checks)


def line_of(
    key: str,
    name: str,
    values: Sequence[Decimal | None],
    scale: Scale,
    people: Decimal | None = None,
    difference: Decimal | None = None,
) -> Line:
    spread = spread_or_none(values)
    plot = plot_of([v for v in values if v is not None], spread, scale, people) if spread else None
    return Line(key, name, tuple(values), spread, people, difference, plot)


def spread_or_none(values: Sequence[Decimal | None]) -> Spread | None:
    there = [value for value in values if value is not None]
    return spread_of(there) if there else None


def plot_of(values: Sequence[Decimal], spread: Spread, scale: Scale, people: Decimal | None) -> Plot:
    counts: dict[Decimal, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return Plot(
        dots=tuple(
            Dot(position(value, scale), f"{3.5 + 0.7 * (count - 1):.1f}")
            for value, count in sorted(counts.items())
        ),
        mean=position(spread.mean, scale),
        people="" if people is None else position(people, scale),
    )


def position(value: Decimal, scale: Scale) -> str:
    share = scale.normalised(min(max(value, scale.minimum), scale.maximum))
    return f"{PLOT_EDGE + share * (PLOT_WIDTH - 2 * PLOT_EDGE):.1f}"


# --- two tests on one text ------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Pair:
    """One criterion in two tests; either side may lack it."""

    key: str
    name: str
    before: Line | None
    after: Line | None
    shift: Shift | None


@dataclass(frozen=True, slots=True)
class Comparison:
    before: Report
    after: Report
    pairs: tuple[Pair, ...]
    total: Pair
    same_scale: bool


def bench_comparison(before: Report, after: Report) -> Comparison:
    """By criterion in the later test's order, then those only in the earlier one."""
    same_scale = before.rubric.scale == after.rubric.scale
    first = {line.key: line for line in before.lines}
    second = {line.key: line for line in after.lines}
    keys = [*second, *(key for key in first if key not in second)]
    return Comparison(
        before,
        after,
        tuple(pair_of(first.get(key), second.get(key), same_scale=same_scale) for key in keys),
        pair_of(before.total, after.total, same_scale=same_scale),
        same_scale,
    )


def pair_of(before: Line | None, after: Line | None, *, same_scale: bool) -> Pair:
    either = after or before
    assert either is not None
    shift = None
    if same_scale and before and after and before.spread and after.spread:
        shift = shift_between(before.spread, after.spread)
    return Pair(either.key, either.name, before, after, shift)


def what_differs(before: Bench, after: Bench) -> list[str]:
    """What differs between two tests besides their scores."""
    differing = []
    if before.rubric_version_id != after.rubric_version_id:
        differing.append(f"version {before.rubric_version.number} and version {after.rubric_version.number}")
    differing += judges_differ(before, after)
    if before.temperature != after.temperature:
        differing.append(
            f"temperature {before.temperature.normalize():f} and {after.temperature.normalize():f}"
        )
    if before.task != after.task:
        differing.append("the task")
    if before.anchored != after.anchored:
        differing.append("whether the judge saw the calibration example")
    return differing


def judges_differ(before: Bench, after: Bench) -> list[str]:
    if len(before.panel) != len(after.panel):
        return [f"{judges_label(before)} and {judges_label(after)}"]
    if before.panel != after.panel:
        return ["the judges of the board"]
    if not before.panel and (before.endpoint, before.model) != (after.endpoint, after.model):
        return [f"the judges {before.model} and {after.model}"]
    return []


def judges_label(bench: Bench) -> str:
    """Who judges: a model, or a board of several judges."""
    return f"a board of {len(bench.panel)}" if bench.panel else f"the judge {bench.model}"
