"""The charts of a run page: the trajectory and the metrics."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from django.urls import reverse

from refinement.charts import (
    LIGHT,
    Mark,
    MetricChart,
    Palette,
    Series,
    TrajectoryChart,
    metric_chart,
    trajectory_chart,
)
from refinement.models import Run
from refinement.selectors.runs.page import RunFacts
from refinement.selectors.runs.words import capital_round_name

SIGNS = (
    ("judge check", "signal"),
    ("judge noise", "noise"),
    ("penalty", "penalty"),
    ("judged in part", "cut"),
)
MOST_LINES = 24  # criteria on the chart; the table has all


def trajectory_of(
    facts: RunFacts,
    *,
    width: int = 900,
    height: int = 260,
    name: str = "trajectory",
    palette: Palette = LIGHT,
    legend: bool = False,
    links: bool = True,
    hrefs: Sequence[str] = (),
    title: str = "",
    people: Mapping[int, Decimal] | None = None,
    ends: bool = False,
    coming: int = 0,
) -> TrajectoryChart:
    """Chart of the composite and every criterion by round. `hrefs` replaces the links to round pages.

    `people` are people's mean scores by round. With `ends`, the lines are named where they end, and the
    rounds below the chart, unless there are too many. There is room for `coming` rounds.
    """
    rubric = facts.rubric
    empty: list[Decimal | None] = [None] * coming
    values = [*(line.composite for line in facts.rounds), *empty]
    # A board that took over is another judge than the one whose noise is known.
    until = facts.run.escalated_after or None
    band = facts.run.smallest_difference
    series = [Series("Score", values, 0, strong=True, band=band, band_until=until)]
    for place, criterion in enumerate(rubric.criteria[:MOST_LINES]):
        scores = [*(_number(line.scores[place]) for line in facts.rounds), *empty]
        series.append(Series(criterion.name, scores, place + 1))
    return trajectory_chart(
        series,
        rubric.scale,
        rubric.policy.pass_threshold,
        marks_of(facts, people or {}),
        labels=[*(line.name for line in facts.rounds), *coming_names(facts, coming)],
        hrefs=hrefs or ([round_address(facts.run, line.number) for line in facts.rounds] if links else ()),
        decimals=rubric.policy.composite_decimals,
        width=width,
        height=height,
        name=name,
        title=title or f"Scores of run {facts.run.pk} by round",
        palette=palette,
        legend=legend,
        ends=ends,
        axis_labels=facts.compact or not ends,
    )


def coming_names(facts: RunFacts, coming: int) -> list[str]:
    there = len(facts.rounds)
    return [capital_round_name(number) for number in range(there + 1, there + 1 + coming)]


def metric_charts_of(
    facts: RunFacts, *, width: int = 900, name: str = "metric", ends: bool = False
) -> list[MetricChart]:
    """A small chart for each metric, to be shown below a trajectory of the same width."""
    labels = [line.name for line in facts.rounds]
    return [
        metric_chart(series, labels, width=width, name=f"{name}-{place}", ends=ends)
        for place, series in enumerate(facts.metrics)
    ]


def marks_of(facts: RunFacts, people: Mapping[int, Decimal]) -> list[Mark]:
    judged = [index for index, line in enumerate(facts.rounds) if line.composite is not None]
    named = [*judged[:1], *judged[-1:]] if facts.compact else judged
    marks = [Mark("best", index, "Result") for index in judged if facts.rounds[index].result]
    marks += [Mark("score", index) for index in dict.fromkeys(named) if not facts.rounds[index].result]
    for index, line in enumerate(facts.rounds):
        if line.number in people:
            marks.append(Mark("people", index, "People", value=people[line.number]))
        if line.first_of_board:
            marks.append(Mark("board", index, "A board took over"))
        if line.split:
            marks.append(Mark("split", index, f"Judges split on {', '.join(line.split)}"))
        for flag, kind in SIGNS:
            if flag in line.flags:
                marks.append(Mark(kind, index, flag[:1].upper() + flag[1:]))
    return marks


def round_address(run: Run, number: int) -> str:
    return reverse("run_round", args=[run.project.slug, run.pk, number])


def _number(text: str) -> Decimal | None:
    return Decimal(text) if text else None
