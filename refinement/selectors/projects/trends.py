"""How a project's runs change: the last four weeks against the four before, and whether that is chance."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from math import sqrt
from statistics import fmean

from django.utils import timezone

from refinement.charts import Sparkline, sparkline
from refinement.engine.types import Outcome
from refinement.models import Project, RunStatus
from refinement.selectors.reviews.blindness import shown_runs
from refinement.selectors.runs.demo_model import without_demo
from refinement.selectors.trust.words import FIRST

SPAN = timedelta(weeks=4)
WEEKS = 8
MOST_RUNS = 600
FEWEST = 12  # runs in a span, below which nothing is said
SURE = 1.96  # standard errors; a larger difference is chance in 1 of 20 cases
WIDTH, HEIGHT = 260, 44


@dataclass(frozen=True, slots=True)
class Past:
    """What a trend needs of a run."""

    at: datetime
    outcome: str
    r1: Decimal | None
    maximum: Decimal  # of its scale
    tokens: int


@dataclass(frozen=True, slots=True)
class Trend:
    """A figure, how it changed, and what to think of the change."""

    name: str
    value: str
    change: str  # with its sign; empty if there is nothing to compare with, or it may be chance
    direction: str  # good, bad or empty
    note: str
    line: Sparkline | None
    judge: int = 0  # that the figure is about


def trends_of(project: Project) -> list[Trend]:
    """The figures with enough runs or labelled texts behind them. Two queries."""
    runs = _past(project)
    judged = [run for run in runs if run.outcome in (Outcome.PASS, Outcome.FAIL)]
    scored = _same_scale([run for run in runs if run.r1 is not None])
    top = f", of {scored[0].maximum.normalize():f}" if scored else ""
    found = [
        _trend(
            "Pass rate",
            judged,
            lambda run: 100.0 * (run.outcome == Outcome.PASS),
            "{:.0f} %",
            "points",
            good=1,
        ),
        _trend(f"First-pass score{top}", scored, lambda run: float(run.r1 or 0), "{:.1f}", "", good=1),
        _trend(
            "Tokens per run",
            [run for run in runs if run.tokens],
            lambda run: float(run.tokens),
            "{}",
            "%",
            good=-1,
        ),
    ]
    return [trend for trend in (*found, _judge(project)) if trend is not None]


def _judge(project: Project) -> Trend | None:
    """The agreement with people of the judge that is compared with them most."""
    known = project.judge_records.filter(labels__gte=FIRST, kappa__isnull=False, alpha__isnull=False)
    judge = known.select_related("rubric_version__rubric").order_by("-labels", "-pk").first()
    if judge is None:
        return None
    about = f"{judge.name}, {judge.rubric_version}: {judge.labels:,} texts"
    note = f"{about}; people among themselves {judge.alpha:.2f}"
    return Trend("Agreement with people, κ", f"{judge.kappa:.2f}", "", "", note, None, judge.pk)


def _past(project: Project) -> list[Past]:
    """The newest finished runs of the last eight weeks, without those of the demo model and of experiments.

    An experiment tries other configurations; its runs say nothing of how the team's work changes.
    """
    rows = without_demo(shown_runs(project)).filter(
        archived_at__isnull=True,
        experiment__isnull=True,
        status=RunStatus.FINISHED,
    )
    columns = (
        "created_at",
        "outcome",
        "r1",
        "rubric_version__scale_maximum",
        "prompt_tokens",
        "completion_tokens",
    )
    # Without a condition on the date, which would have SQLite read all runs since then and sort them.
    newest = rows.order_by("-pk").values_list(*columns)[:MOST_RUNS]
    since = timezone.now() - 2 * SPAN
    return [
        Past(at, outcome, r1, maximum, given + made)
        for at, outcome, r1, maximum, given, made in newest
        if at >= since
    ]


def _same_scale(runs: Sequence[Past]) -> list[Past]:
    """The runs on the scale that most of them use; scores of other scales cannot be averaged with them."""
    scales = [run.maximum for run in runs]
    usual = max(set(scales), key=scales.count) if scales else None
    return [run for run in runs if run.maximum == usual]


def _trend(
    name: str, runs: Sequence[Past], value: Callable[[Past], float], form: str, unit: str, *, good: int
) -> Trend | None:
    """The trend of one figure; None with too few runs in the last four weeks. `good` is the better sign."""
    since = timezone.now() - SPAN
    now = [value(run) for run in runs if run.at >= since]
    before = [value(run) for run in runs if run.at < since]
    if len(now) < FEWEST:
        return None
    mean = fmean(now)
    change, note = "", f"{len(now):,} runs in 4 weeks"
    direction = ""
    if len(before) >= FEWEST:
        gap, margin = mean - fmean(before), _margin(now, before)
        if abs(gap) > margin:
            change = _change(gap, unit, fmean(before))
            direction = "good" if gap * good > 0 else "bad"
            note += "; a clear change"
        else:
            note += "; no clear change"
    return Trend(name, _shown(mean, form), change, direction, note, _line(runs, value))


def _margin(now: Sequence[float], before: Sequence[float]) -> float:
    """How far apart two means may be by chance."""
    return SURE * sqrt(sum(_variance(values) / len(values) for values in (now, before)))


def _variance(values: Sequence[float]) -> float:
    """In floats: `statistics.variance` is exact, and takes milliseconds for what is only drawn."""
    mean = fmean(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _change(gap: float, unit: str, before: float) -> str:
    sign = "▲" if gap > 0 else "▼"
    if unit == "%":
        return f"{sign} {abs(gap) / before:.0%}".replace("%", " %") if before else ""
    return f"{sign} {abs(gap):.0f} {unit}" if unit else f"{sign} {abs(gap):.1f}"


def _shown(mean: float, form: str) -> str:
    if form != "{}":
        return form.format(mean)
    return f"{mean / 1000:.1f} k" if mean >= 1000 else f"{mean:.0f}"


def _line(runs: Iterable[Past], value: Callable[[Past], float]) -> Sparkline | None:
    """The weekly means, oldest first; weeks without runs are left out."""
    weeks: dict[int, list[float]] = {}
    today = timezone.now()
    for run in runs:
        weeks.setdefault((today - run.at).days // 7, []).append(value(run))
    means = [Decimal(f"{fmean(weeks[week]):.3f}") for week in sorted(weeks, reverse=True) if week < WEEKS]
    return sparkline(means, width=WIDTH, height=HEIGHT) if len(means) > 1 else None
