"""A task of an experiment: one configuration next to the baseline, with the texts' differences."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from refinement.access.objects import experiment_or_404, figures_or_blind
from refinement.access.projects import ProjectRequest, project_view
from refinement.diffing import compared, side_by_side
from refinement.diffing.sides import folded
from refinement.models import Experiment
from refinement.selectors.compare.runs import Side, best_texts
from refinement.selectors.experiments.page import configurations_of, report_of
from refinement.selectors.experiments.reports.cell import (
    CellFacts,
    cell_facts,
    chart_of,
    criteria_gaps,
    failed_checks,
    reasons_of,
    sides_for,
    task_at,
)
from refinement.selectors.experiments.reports.heatmap import Key, tasks_of
from refinement.selectors.runs.texts.diffs import bounded

DIFF_CHARS = 60_000  # per text
PANEL = (420, 190)
WIDE = (924, 240)


@require_safe
@project_view()
def experiment_cell(request: ProjectRequest, experiment: int, position: int) -> HttpResponse:
    """The task's page; for htmx the same as a panel next to the table."""
    found = experiment_or_404(request, experiment)
    figures_or_blind(request, found)
    task = task_at(found, position)
    if task is None:
        raise Http404("This experiment has no such task.")
    report = report_of(found)
    configurations = configurations_of(found)
    facts = cell_facts(
        found,
        task,
        configurations,
        report.result if report else None,
        number_of(request.GET.get("configuration")),
    )
    is_panel = bool(request.htmx) and not request.htmx.boosted
    page = {
        "section": "suites",
        "experiment": found,
        "configurations": configurations,
        "facts": facts,
        "address": address_of(request, found, facts),
        **neighbours(request, found, facts),
        **details(request, facts, size=None if is_panel else WIDE),
    }
    return render(request, f"refinement/experiments/{'_cell_panel' if is_panel else 'cell'}.html", page)


def number_of(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else None


def address_of(request: ProjectRequest, experiment: Experiment, facts: CellFacts) -> str:
    path = reverse("experiment_cell", args=[request.project.slug, experiment.pk, facts.task.position])
    return f"{path}?{urlencode({'configuration': facts.configuration.pk})}"


def neighbours(request: ProjectRequest, experiment: Experiment, facts: CellFacts) -> dict[str, str]:
    """Addresses of the next larger and the next smaller regression."""
    if not facts.regressions:
        return {"previous": "", "following": ""}
    places = {task.key: task.position for task in tasks_of(experiment)}

    def address(key: Key | None) -> str:
        if key is None or key[0] not in places:
            return ""
        path = reverse("experiment_cell", args=[request.project.slug, experiment.pk, places[key[0]]])
        return f"{path}?{urlencode({'configuration': key[1]})}"

    return {"previous": address(facts.previous), "following": address(facts.following)}


def details(request: ProjectRequest, facts: CellFacts, *, size: tuple[int, int] | None) -> dict[str, Any]:
    """Chart, criteria, reasons and the difference of two texts; nothing without two readable runs.

    `size` is that of a wide chart next to the narrow one, for the page.
    """
    first, second = pair_of(request, facts)
    sides = sides_for(request.project, facts, first, second) if first and second else []
    by_number = {side.run.pk: side for side in sides}
    if first not in by_number or second not in by_number:
        return {"narrow": None, "gaps": [], "diff": None}
    before, after = by_number[first], by_number[second]
    gaps = criteria_gaps(facts, sides)
    names = {run.row.run_id: run for run in facts.runs}
    return {
        "narrow": chart_of(facts, sides, width=PANEL[0], height=PANEL[1]),
        "wide": chart_of(facts, sides, width=size[0], height=size[1]) if size else None,
        "drawn": [(side.slot, names[side.run.pk].name) for side in sides if side.composites],
        "gaps": gaps,
        "reasons": reasons_of(after, gaps),
        "failed": failed_checks(before, after),
        "first": names[first],
        "second": names[second],
        "before": before,
        "after": after,
        **difference(before, after),
    }


def pair_of(request: ProjectRequest, facts: CellFacts) -> tuple[int | None, int | None]:
    """The chosen runs; by default the first readable ones of the baseline and of the configuration."""
    readable = facts.readable
    known = {run.row.run_id for run in readable}
    asked = [number_of(request.GET.get(name)) for name in ("a", "b")]
    if unknown := [number for number in asked if number is not None and number not in known]:
        raise Http404(f"Run {unknown[0]} is not a result of this task.")
    base = [run.row.run_id for run in readable if run.row.configuration == facts.baseline]
    own = [run.row.run_id for run in readable if run.row.configuration == facts.configuration]
    if facts.configuration == facts.baseline:
        own = own[1:]
    first = asked[0] or next(iter(base), None)
    second = asked[1] or next((number for number in own if number != first), None)
    return first, second


def difference(before: Side, after: Side) -> dict[str, Any]:
    texts = best_texts(before.run, after.run, DIFF_CHARS)
    diff = compared(*texts) if all(texts) else None
    pieces, missing = bounded(folded(diff.pieces)) if diff else ([], 0)
    return {
        "diff": diff,
        "diff_pieces": pieces,
        "diff_rows": side_by_side(pieces),
        "diff_missing": missing,
        "diff_cut": max(before.best_chars, after.best_chars) > DIFF_CHARS,
        "diff_chars": DIFF_CHARS,
    }
