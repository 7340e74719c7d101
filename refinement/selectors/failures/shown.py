"""The page's rows as ready texts and shapes, so that templates only print them."""

from collections.abc import Sequence
from dataclasses import dataclass

from refinement.charts.small import (
    HistogramShape,
    IntervalShape,
    TrendShape,
    histogram_shape,
    interval_shape,
    trend_shape,
)
from refinement.selectors.failures.categories import FALLING, RISING, UNKNOWN, CategoryFigures
from refinement.selectors.failures.criteria import CriterionFigures, Histogram
from refinement.selectors.failures.sentence import percent
from refinement.selectors.failures.window import Window

MINUS = "−"
TRENDS = {RISING: ("▲ rising", "bad"), FALLING: ("▼ falling", "ok"), UNKNOWN: ("too few", "")}
POOR, GOOD = 0.5, 0.7  # shares of issues that are not raised in the next round
FEWEST_FOLLOWED = 5


@dataclass(frozen=True, slots=True)
class RoundShown:
    """A round's histogram with its mean."""

    count: int
    mean: str
    words: str
    shape: HistogramShape


@dataclass(frozen=True, slots=True)
class CriterionShown:
    """A criterion's row."""

    key: str
    name: str
    slot: int
    runs: int
    lowest: int
    lowest_share: str
    bar: float
    first_below: str
    last_below: str
    rounds: list[RoundShown]
    lift: str
    interval: str
    lift_runs: int
    lift_shape: IntervalShape | None


@dataclass(frozen=True, slots=True)
class CategoryShown:
    """A category's row; `pk` is 0 for what fits nowhere."""

    pk: int
    name: str
    criterion: str
    criterion_key: str
    slot: int
    pinned: bool
    edition: int
    note: str
    by_model: bool
    issues: int
    runs: int
    having: int
    scored: int
    elsewhere: int
    of_all: bool
    share: str
    bar: float
    trend: str
    trend_kind: str
    trend_shape: TrendShape
    trend_words: str
    score: str
    fixed: str
    fixed_bar: float
    fixed_kind: str
    fixed_count: int
    followed: int
    came_back: int
    merged: int


def criteria_shown(figures: Sequence[CriterionFigures], window: Window) -> list[CriterionShown]:
    """The rows, with one axis for all lifts."""
    ends = [
        end for entry in figures if entry.lift for end in (entry.lift.low, entry.lift.high) if end is not None
    ]
    ends += [entry.lift.mean for entry in figures if entry.lift]
    least, most = min([0.0, *ends]), max([0.5, *ends])
    return [criterion_shown(entry, window.mark_of(entry.key), least, most) for entry in figures]


def criterion_shown(entry: CriterionFigures, mark: float | None, least: float, most: float) -> CriterionShown:
    lift = entry.lift
    return CriterionShown(
        key=entry.key,
        name=entry.name,
        slot=entry.slot,
        runs=entry.runs,
        lowest=entry.lowest,
        lowest_share=percent(entry.lowest_share),
        bar=round(100 * entry.lowest_share, 1),
        first_below="" if entry.first_share is None else percent(entry.first_share),
        last_below="" if entry.last_share is None else percent(entry.last_share),
        rounds=[round_shown(part, mark) for part in entry.rounds],
        lift="" if lift is None else signed(lift.mean),
        interval="" if lift is None or lift.low is None or lift.high is None else span(lift.low, lift.high),
        lift_runs=lift.runs if lift else 0,
        lift_shape=interval_shape(lift.mean, lift.low, lift.high, least, most) if lift else None,
    )


def round_shown(part: Histogram, mark: float | None) -> RoundShown:
    mean = "" if part.mean is None else f"{part.mean:.1f}"
    words = (
        f"Round {part.number}: mean {mean}, {part.count} runs" if mean else f"Round {part.number}: no scores"
    )
    return RoundShown(part.count, mean, words, histogram_shape(part.bins, mark))


def categories_shown(figures: Sequence[CategoryFigures], rest: CategoryFigures) -> list[CategoryShown]:
    """The rows in order, and last the one for what fits nowhere."""
    return [category_shown(entry) for entry in (*figures, rest)]


def category_shown(entry: CategoryFigures) -> CategoryShown:
    row, fixed = entry.row, entry.fixed_share
    trend, kind = TRENDS.get(entry.trend, ("= steady", ""))
    enough = fixed is not None and entry.followed >= FEWEST_FOLLOWED
    return CategoryShown(
        pk=row.pk if row else 0,
        name=entry.name,
        criterion=entry.criterion,
        criterion_key=row.criterion if row else "",
        slot=entry.slot,
        pinned=bool(row and row.pinned),
        edition=row.edition if row else 0,
        note=row.note if row else "",
        by_model=bool(row and not row.name and row.model_name),
        issues=entry.issues,
        runs=len(entry.runs),
        having=entry.having,
        scored=entry.scored,
        elsewhere=entry.elsewhere,
        of_all=entry.of_all,
        share=percent(entry.share),
        bar=round(100 * entry.share, 1),
        trend=trend,
        trend_kind=kind,
        trend_shape=trend_shape(entry.weeks),
        trend_words=f"Share of runs in the last {len(entry.weeks)} weeks: "
        + ", ".join("no runs" if share is None else f"{share * 100:.0f} %" for share in entry.weeks),
        score="" if entry.score is None else f"{entry.score:.1f}",
        fixed="" if fixed is None else percent(fixed),
        fixed_bar=round(100 * (fixed or 0), 1),
        fixed_kind=""
        if not enough or fixed is None
        else "bad"
        if fixed < POOR
        else "ok"
        if fixed >= GOOD
        else "",
        fixed_count=entry.fixed,
        followed=entry.followed,
        came_back=entry.came_back,
        merged=entry.merged,
    )


def signed(value: float) -> str:
    text = f"{abs(value):.1f}"
    if text == "0.0":
        return "±0.0"
    return f"{'+' if value > 0 else MINUS}{text}"


def span(low: float, high: float) -> str:
    return f"{number(low)} to {number(high)}"


def number(value: float) -> str:
    text = f"{abs(value):.1f}"
    return f"{MINUS if value < 0 and text != '0.0' else ''}{text}"
