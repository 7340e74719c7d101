"""Two to five runs side by side."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.labelling import runs_or_blind
from refinement.access.projects import ProjectRequest, project_view
from refinement.diffing import compared, side_by_side
from refinement.diffing.sides import folded
from refinement.selectors.compare.answer import answer_of
from refinement.selectors.compare.charts import one_scale, repeats_of, trajectories_of
from refinement.selectors.compare.figures import criteria_of, figures_of
from refinement.selectors.compare.runs import (
    DIFF_CHARS,
    FEWEST,
    MOST,
    Side,
    baseline_first,
    best_texts,
    differing_judges,
    latest_runs,
    sides_of,
)
from refinement.selectors.compare.settings import settings_compared
from refinement.selectors.runs.texts.diffs import bounded
from refinement.selectors.trust.gate import unproven_passes
from refinement.services.reviews.blind_readings import scores_seen_record
from refinement.views.runs.asked import run_numbers_param


@require_safe
@project_view()
def run_compare(request: ProjectRequest) -> HttpResponse:
    """Compares the selected runs; with fewer than two or more than five, a page to select them."""
    numbers = run_numbers_param(request.GET.getlist("run"))
    runs_or_blind(request, *numbers)
    if not FEWEST <= len(numbers) <= MOST or "choose" in request.GET:
        return choice(request, numbers)
    sides = sides_of(request.project, numbers)
    if len(sides) != len(numbers):
        raise Http404("One of these runs is not in this project.")
    scores_seen_record(runs=[side.run for side in sides], user=request.user)
    base = _chosen({side.run.pk: side for side in sides}, request.GET.get("base", ""), sides[0])
    sides = baseline_first(sides, base.run.pk)
    page = {"section": "runs", "sides": sides, "numbers": numbers, **difference(request, sides)}
    if request.htmx and not request.htmx.boosted:
        return render(request, "refinement/runs/compare_diff.html", page)
    return render(request, "refinement/runs/compare.html", page | tables(request, sides))


def tables(request: ProjectRequest, sides: Sequence[Side]) -> dict[str, Any]:
    """Chart and tables; rows in which all runs are equal are left out if the reader asks for it."""
    shared, differing = one_scale(sides), "differs" in request.GET
    worst_first = request.GET.get("order") == "loss"
    figures, settings = figures_of(sides, one_scale=shared), settings_compared(sides)
    criteria = criteria_of(sides, one_scale=shared, worst_first=worst_first)
    return {
        "answer": answer_of(sides, one_scale=shared),
        "one_scale": shared,
        "differing_only": differing,
        "worst_first": worst_first,
        "trajectories": trajectories_of(sides),
        "figures": [(row, beside(row.cells, sides)) for row in figures if not (differing and row.same)],
        "criteria": [(row, beside(row.cells, sides)) for row in criteria if not (differing and row.same)],
        "has_criteria": bool(criteria),
        "differing_judges": differing_judges(sides),
        "settings": settings,
        "differing_settings": [
            {"group": entry.group, "label": entry.label, "values": beside(entry.values, sides)}
            for entry in settings.differing
        ],
        "repeats": repeats_of(request.project, sides),
    }


def beside(values: Sequence[Any], sides: Sequence[Side]) -> list[tuple[Any, Side]]:
    """Each value with its run, to name it where the columns have no heads."""
    return list(zip(values, sides, strict=True))


def difference(request: ProjectRequest, sides: Sequence[Side]) -> dict[str, Any]:
    """A word diff of two runs' results, by default of the first two."""
    by_number = {side.run.pk: side for side in sides}
    first, second = (
        _chosen(by_number, request.GET.get(name, ""), sides[index]) for index, name in enumerate(("a", "b"))
    )
    before, after = best_texts(first.run, second.run, DIFF_CHARS)
    diff = compared(before, after) if before and after else None
    pieces, missing = bounded(folded(diff.pieces)) if diff else ([], 0)
    return {
        "first": first,
        "second": second,
        "diff": diff,
        "diff_open": first.run.task == second.run.task or "a" in request.GET,
        "diff_rows": side_by_side(pieces),
        "diff_pieces": pieces,  # for phones
        "diff_missing": missing,
        "diff_chars": DIFF_CHARS,
        "diff_cut": max(first.best_chars, second.best_chars) > DIFF_CHARS,
    }


def _chosen(sides: dict[int, Side], said: str, default: Side) -> Side:
    if not said:
        return default
    (number,) = run_numbers_param([said])
    if number not in sides:
        raise Http404("This run is not in the comparison.")
    return sides[number]


def choice(request: ProjectRequest, numbers: Sequence[int]) -> HttpResponse:
    """The newest runs to select from; too many are reported and stay selected."""
    runs = latest_runs(request.project, numbers)
    if missing := set(numbers) - {run.pk for run in runs}:
        raise Http404(f"Run {min(missing)} is not in this project.")
    page = {
        "section": "runs",
        "runs": runs,
        "unproven": unproven_passes(runs, request.project),
        "chosen": set(numbers),
        "fewest": FEWEST,
        "most": MOST,
        "too_many": len(numbers) > MOST,
    }
    status = 422 if len(numbers) > MOST else 200
    return render(request, "refinement/runs/compare_choose.html", page, status=status)
