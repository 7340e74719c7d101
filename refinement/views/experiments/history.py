"""A suite over time: the composites of its experiments with their intervals."""

from datetime import datetime
from typing import Any, cast

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from refinement.access.objects import can_edit, suite_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.charts.history import HistoryChart, Point, history_chart
from refinement.models import ExperimentRun
from refinement.selectors.experiments.identity import LineBy
from refinement.selectors.experiments.reports.history import suite_history

MOST_LINES = 8
LINES: dict[str, str] = {"models": "Rubric and models", "exact": "Exactly the same settings"}


@require_safe
@project_view()
def suite_history_page(request: ProjectRequest, suite: str) -> HttpResponse:
    """Lines of what was run, by rubric and models; every point links to its experiment."""
    found = suite_or_404(request, suite)
    by = request.GET.get("by", "models")
    by = by if by in LINES else "models"
    history = suite_history(found, by=cast(LineBy, by))
    points = [point for point in history["points"] if point["composite"]]
    points = [point for point in points if point["experiment"] not in blind_experiments(request)]
    slots = {line["line"]: number for number, line in enumerate(history["lines"][:MOST_LINES], start=1)}
    page = {
        "section": "suites",
        "suite": found,
        "tab": "history",
        "version": found.versions.first(),
        "can_edit": can_edit(request),
        "by": by,
        "choices": LINES,
        "lines": [line | {"slot": slots[line["line"]]} for line in history["lines"][:MOST_LINES]],
        "left_out": max(0, len(history["lines"]) - MOST_LINES),
        "wide": chart_of(request, points, slots),
        "narrow": chart_of(request, points, slots, width=380, height=240),
        "points": [at_time(point) for point in newest_first(points)],
        "experiments": len({point["experiment"] for point in points}),
    }
    return render(request, "refinement/experiments/history.html", page)


def blind_experiments(request: ProjectRequest) -> set[int]:
    """Experiments with a run that the reader is scoring blind."""
    if not request.blind_runs:
        return set()
    rows = ExperimentRun.objects.filter(run__in=request.blind_runs)
    return set(rows.values_list("experiment_id", flat=True))


def newest_first(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The newest experiment first, and its configurations in order."""
    return sorted(points, key=lambda point: (-point["experiment"], point["letter"]))


def at_time(point: dict[str, Any]) -> dict[str, Any]:
    return point | {"when": datetime.fromisoformat(point["at"])}


def chart_of(
    request: ProjectRequest, points: list[dict[str, Any]], slots: dict[str, int], **size: int
) -> HistoryChart | None:
    """One column for each experiment, oldest first."""
    experiments = list(dict.fromkeys(point["experiment"] for point in points))
    days = {point["experiment"]: timezone.localtime(datetime.fromisoformat(point["at"])) for point in points}
    drawn = [
        Point(
            experiments.index(point["experiment"]),
            point["line"],
            point["composite"]["value"],
            *interval_of(point["composite"]),
            words_of(point),
            reverse("experiment_page", args=[request.project.slug, point["experiment"]]),
            point["letter"],
        )
        for point in points
        if point["line"] in slots
    ]
    return history_chart(drawn, [f"{days[number]:%-d %b}" for number in experiments], slots, **size)


def interval_of(figure: dict[str, float | None]) -> tuple[float, float]:
    low, high, value = figure["low"], figure["high"], figure["value"]
    assert value is not None
    return (value if low is None else low, value if high is None else high)


def words_of(point: dict[str, Any]) -> str:
    figure = point["composite"]
    low, high = interval_of(figure)
    return (
        f"{point['name']}, {point['letter']} {point['configuration_name']}: {figure['value']:.2f} "
        f"({low:.2f} to {high:.2f}), rubric {point['settings']['rubric']}"
    )
