"""A suite over time: the composites of its experiments, as lines of what was run.

Reads stored reports only.
"""

from collections.abc import Collection
from typing import Any

from refinement.models import Configuration, Experiment, Report, ReportKind, Suite
from refinement.selectors.experiments.identity import RELATED, LineBy, line_of, settings_of

MOST_EXPERIMENTS = 50
FIGURES = ("composite", "mean_r1", "criteria_rate", "pass_rate")


def suite_history(suite: Suite, *, by: LineBy = "models", blind: Collection[int] = ()) -> dict[str, Any]:
    """The newest experiments of the suite, oldest first, and the lines that join what is the same. Three
    queries.

    `by` says what makes a line: see `line_of`. A point names the rubric's version and its suite version.
    Experiments with `blind` runs, which the reader scores without seeing their scores, are left out.
    """
    rows_of_suite = Experiment.objects.filter(suite_version__suite=suite).select_related("suite_version")
    if blind:
        rows_of_suite = rows_of_suite.exclude(runs__run__in=list(blind))
    newest = list(rows_of_suite.order_by("-pk")[:MOST_EXPERIMENTS])
    experiments = {experiment.pk: experiment for experiment in reversed(newest)}
    figures = figures_of(list(experiments))
    rows = Configuration.objects.filter(experiment__in=experiments).select_related(*RELATED)
    points = [
        point(experiments[row.experiment_id], row, figures[row.pk], by)
        for row in rows.order_by("experiment_id", "position")
        if row.pk in figures
    ]
    return {"suite": suite.slug, "by": by, "points": points, "lines": lines(points)}


def figures_of(experiments: list[int]) -> dict[int, dict[str, Any]]:
    """The figures of each configuration by its primary key. Only this part of a report is read."""
    rows = Report.objects.filter(
        kind=ReportKind.EXPERIMENT, other=0, subject__in=experiments, result__isnull=False
    )
    found = rows.values_list("result__configurations", flat=True)
    return {entry["id"]: entry for configurations in found for entry in configurations or ()}


def point(experiment: Experiment, row: Configuration, figures: dict[str, Any], by: LineBy) -> dict[str, Any]:
    return {
        "experiment": experiment.pk,
        "name": experiment.name,
        "at": (experiment.finished_at or experiment.created_at).isoformat(),
        "status": experiment.status,
        "suite_version": experiment.suite_version.number,
        "configuration": row.pk,
        "letter": row.letter,
        "configuration_name": row.name,
        "settings": settings_of(row),
        "shown": {
            "rubric": f"{row.rubric_version.rubric.name} @ v{row.rubric_version.number}",
            "writer": row.producer_model,
            "judge": row.judge_model,
        },
        "line": line_of(row, by),
        "scored": figures["scored"],
        **{name: figures[name] for name in FIGURES},
    }


def lines(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each line with its label and how many points it has, the newest first."""
    found: dict[str, dict[str, Any]] = {}
    for entry in reversed(points):
        line = found.setdefault(entry["line"], {"line": entry["line"], "label": label(entry), "points": 0})
        line["points"] += 1
    return list(found.values())


def label(entry: dict[str, Any]) -> str:
    shown = entry["shown"]
    return f"{shown['rubric'].rsplit(' @ ', 1)[0]} · {shown['writer']} · judge {shown['judge']}"
