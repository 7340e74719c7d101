"""Score charts of compared runs, and statistics over repeats of one launch."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import zip_longest

from refinement.charts import Mark, Series, TrajectoryChart, trajectory_chart
from refinement.engine.types import Scale
from refinement.models import Project, Run
from refinement.selectors.compare.runs import Side, result_number
from refinement.selectors.reviews.blindness import shown_runs
from refinement.selectors.score_words import composite_text

SHARE = Scale(Decimal(0), Decimal(100))
MOST_REPEATS = 500
_COMPOSITES = (
    ("First score (r1)", "r1"),
    ("Best", "best"),
    ("Last", "last"),
    ("Last − first", "improvement"),
)
_COUNTS = (
    ("Rounds judged", "rounds_judged"),
    ("Prompt tokens", "prompt_tokens"),
    ("Completion tokens", "completion_tokens"),
)


@dataclass(frozen=True, slots=True)
class Trajectories:
    """The chart and its table. `as_shares`: scores are percentages because the scales differ."""

    chart: TrajectoryChart
    narrow: TrajectoryChart  # for phones
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    as_shares: bool


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over repeats, with the sample standard deviation."""

    label: str
    mean: Decimal
    deviation: Decimal
    lowest: Decimal
    highest: Decimal
    decimals: int | None  # for composites; None for counts

    @property
    def words(self) -> tuple[str, ...]:
        """Mean, deviation, lowest and highest, formatted."""
        values = (self.mean, self.deviation, self.lowest, self.highest)
        return tuple(
            _count(value) if self.decimals is None else composite_text(value, self.decimals)
            for value in values
        )


@dataclass(frozen=True, slots=True)
class Repeats:
    """Statistics over the finished runs of one launch."""

    shown: tuple[int, ...]
    finished: int
    launched: int
    figures: tuple[Spread, ...]


def one_scale(sides: Sequence[Side]) -> bool:
    """Whether all runs use the same scale, so that their scores can share an axis."""
    return len({(side.rubric.scale.minimum, side.rubric.scale.maximum) for side in sides}) == 1


def trajectories_of(sides: Sequence[Side]) -> Trajectories:
    """All runs' composites by round; as a percentage of each run's scale where the scales differ."""
    shared = one_scale(sides)
    columns = [[value if shared else _share(side, value) for value in side.composites] for side in sides]
    limits = {
        None if limit is None else limit if shared else _share(side, limit)
        for side in sides
        for limit in [side.rubric.policy.pass_threshold]
    }
    decimals = max(side.rubric.policy.composite_decimals for side in sides) if shared else 0
    names = _round_names(max(map(len, columns)))
    drawn = partial(
        trajectory_chart,
        [_series(side, column, shared=shared) for side, column in zip(sides, columns, strict=True)],
        sides[0].rubric.scale if shared else SHARE,
        limits.pop() if len(limits) == 1 else None,
        _bests(sides, columns, decimals),
        labels=names,
        decimals=decimals,
        title="Composite scores by round, one line per run",
    )
    rows = (
        (name, tuple(_words(value, decimals, shared=shared) for value in values))
        for name, values in zip(names, zip_longest(*columns), strict=True)
    )
    return Trajectories(
        chart=drawn(name="runs", width=1100, height=280),
        narrow=drawn(name="runs-narrow", width=400, height=240),
        rows=tuple(rows),
        as_shares=not shared,
    )


def _share(side: Side, value: Decimal) -> Decimal:
    return side.rubric.scale.normalised(value) * 100


def _series(side: Side, values: Sequence[Decimal], *, shared: bool) -> Series:
    known = side.run.smallest_difference
    if known is not None and not shared:
        known = known / (side.rubric.scale.maximum - side.rubric.scale.minimum) * 100
    until = side.run.escalated_after or None
    return Series(f"Run {side.run.pk}", values, side.slot, strong=True, band=known, band_until=until)


def _bests(sides: Sequence[Side], columns: Sequence[Sequence[Decimal]], decimals: int) -> list[Mark]:
    """The results; those that would say the same at the same place share a mark."""
    found: dict[tuple[int, Decimal], list[int]] = {}
    for place, (side, column) in enumerate(zip(sides, columns, strict=True)):
        number = result_number(side.run)
        if number and number <= len(column):
            found.setdefault((number - 1, round(column[number - 1], decimals)), []).append(place)
    return [
        Mark("best", index, f"result of {_named([sides[place] for place in places])}", series=places[0])
        for (index, _), places in found.items()
    ]


def _named(sides: Sequence[Side]) -> str:
    numbers = [str(side.run.pk) for side in sides]
    return f"run {numbers[0]}" if len(numbers) == 1 else f"runs {', '.join(numbers)}"


def _round_names(count: int) -> list[str]:
    return [f"Round {index + 1}" for index in range(count)]


def _words(value: Decimal | None, decimals: int, *, shared: bool) -> str:
    if value is None:
        return ""
    return f"{round(value, decimals):.{decimals}f}{'' if shared else ' %'}"


def repeats_of(project: Project, sides: Sequence[Side]) -> list[Repeats]:
    """Mean and spread over all runs of each launch that has two or more runs in the comparison."""
    batches: dict[str, list[Side]] = {}
    for side in sides:
        if side.run.batch:
            batches.setdefault(side.run.batch, []).append(side)
    shared = {batch: launched for batch, launched in batches.items() if len(launched) > 1}
    if not shared:
        return []
    names = [name for _, name in (*_COMPOSITES, *_COUNTS)]
    rows = shown_runs(project).filter(batch__in=shared).order_by("pk")
    found = list(rows.only("batch", "status", *names)[:MOST_REPEATS])
    return [
        _repeats(launched, [run for run in found if run.batch == batch]) for batch, launched in shared.items()
    ]


def _count(value: Decimal) -> str:
    return f"{value:,.1f}".removesuffix(".0")


def _repeats(sides: Sequence[Side], runs: Sequence[Run]) -> Repeats:
    finished = [run for run in runs if run.is_finished]
    decimals = sides[0].rubric.policy.composite_decimals
    figures = []
    for label, name in (*_COMPOSITES, *_COUNTS):
        values = [Decimal(value) for run in finished if (value := getattr(run, name)) is not None]
        if len(values) > 1:
            mean, deviation = statistics.mean(values), statistics.stdev(values)
            places = None if (label, name) in _COUNTS else decimals
            figures.append(Spread(label, mean, deviation, min(values), max(values), places))
    return Repeats(tuple(side.run.pk for side in sides), len(finished), len(runs), tuple(figures))
