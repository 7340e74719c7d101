"""Two experiments compared: what was changed, and what that did."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.objects import experiment_or_404, figures_or_blind
from refinement.access.projects import ProjectRequest, project_view
from refinement.models import Experiment, SuiteTask
from refinement.selectors.experiments.lists import newest_experiments
from refinement.selectors.experiments.reports.leaderboard import axis_of, verdict_of
from refinement.services.experiments.reporting import comparison_wanted

MOST_OFFERED = 60
MOST_SHOWN = 8  # regressions of a pair


@require_safe
@project_view()
def experiment_compare(request: ProjectRequest) -> HttpResponse:
    """`b` is compared with the earlier experiment `a`; without both, a page to choose them.

    The figures are computed by a worker on first use; the page looks again until they are there.
    """
    offered = newest_experiments(request.project, MOST_OFFERED)
    page: dict[str, Any] = {
        "section": "suites",
        "offered": offered,
        "a": chosen(request, "a"),
        "b": chosen(request, "b"),
    }
    first, second = page["a"], page["b"]
    if isinstance(first, Experiment) and isinstance(second, Experiment) and first != second:
        figures_or_blind(request, first, second)
        page |= comparison(request, second, first)
    is_partial = request.htmx and not request.htmx.boosted
    name = "_comparison" if is_partial else "compare"
    return render(request, f"refinement/experiments/{name}.html", page)


def chosen(request: ProjectRequest, name: str) -> Experiment | None:
    text = request.GET.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Http404("There is no such experiment in this project.")
    return experiment_or_404(request, int(text))


def comparison(request: ProjectRequest, experiment: Experiment, other: Experiment) -> dict[str, object]:
    """The stored comparison; asked for if there is none."""
    stored = comparison_wanted(experiment, other)
    if stored.result is None or stored.is_outdated:
        return {"stored": stored, "pairs": []}
    result = stored.result
    gaps = [pair["against_baseline"] for pair in result["pairs"]]
    axis = axis_of(gaps)
    titles = titles_of(experiment)
    pairs = [
        {
            **pair,
            "verdict": verdict_of(gap, axis),
            "shown": [
                {**entry, "place": titles.get(entry["task"])} for entry in pair["regressions"][:MOST_SHOWN]
            ],
        }
        for pair, gap in zip(result["pairs"], gaps, strict=True)
    ]
    return {"stored": stored, "result": result, "pairs": pairs, "axis": axis}


def titles_of(experiment: Experiment) -> dict[str, tuple[str, int]]:
    """The title and the position of each task by key."""
    rows = SuiteTask.objects.filter(version=experiment.suite_version_id)
    return {key: (title, position) for key, title, position in rows.values_list("key", "title", "position")}
