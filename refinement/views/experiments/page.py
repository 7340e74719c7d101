"""An experiment's page: its answer, leaderboard and heat map, live while it runs."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.objects import can_edit, experiment_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.interchange.experiments.leaderboard import EXPORTS
from refinement.models import Experiment
from refinement.selectors.experiments.held import Held, held_in
from refinement.selectors.experiments.page import ExperimentFacts, experiment_facts, report_of
from refinement.selectors.experiments.progress import counts_of, mark_of, version_of
from refinement.selectors.experiments.reports.heatmap import ORDERS, HeatOptions
from refinement.services.experiments.reporting import results_wanted
from refinement.streaming.experiments import experiment_streamed

NO_CHANGE = 204


@require_safe
@project_view()
def experiment_page(request: ProjectRequest, experiment: int) -> HttpResponse:
    """The page, or for htmx its content; nothing (204) if the page shows what is there already."""
    found = experiment_or_404(request, experiment)
    mark = request.GET.get("mark") if is_partial(request) else None
    if mark and mark == current_mark(found):
        return HttpResponse(status=NO_CHANGE)
    return shown_experiment(request, found)


@require_safe
@project_view()
def experiment_events(request: ProjectRequest, experiment: int) -> HttpResponse:
    """Streams that something changed, for open pages."""
    found = experiment_or_404(request, experiment)
    return experiment_streamed(request, found, session=request.session.session_key or "")


def is_partial(request: ProjectRequest) -> bool:
    return bool(request.htmx) and not request.htmx.boosted


def current_mark(experiment: Experiment) -> str:
    """Four small queries: what an open page asks for every second."""
    counts, _ = counts_of(experiment)
    report = report_of(experiment, figures=False)
    held = Held() if experiment.is_finished else held_in(experiment)
    return mark_of(experiment, counts, version_of(report), held)


def shown_experiment(
    request: ProjectRequest, experiment: Experiment, status: int = 200, **more: Any
) -> HttpResponse:
    facts = experiment_facts(experiment, heat_options(request), blind=request.blind_runs)
    if facts.is_outdated:
        results_wanted(experiment)
    page = page_context(request, facts) | more
    name = "_page" if is_partial(request) else "page"
    return render(request, f"refinement/experiments/{name}.html", page, status=status)


def page_context(request: ProjectRequest, facts: ExperimentFacts) -> dict[str, Any]:
    return {
        "section": "suites",
        "experiment": facts.experiment,
        "facts": facts,
        "can_edit": can_edit(request),
        "orders": ORDERS,
        "exports": EXPORTS,
        "query": query_of(request),
    }


def query_of(request: ProjectRequest) -> str:
    """What the reader chose, to keep it in links."""
    kept = request.GET.copy()
    for name in ("mark", "part", "page"):
        kept.pop(name, None)
    return kept.urlencode()


def heat_options(request: ProjectRequest) -> HeatOptions:
    """The reader's choices; unknown values are the defaults."""
    order, page = request.GET.get("sort", ""), request.GET.get("page", "")
    return HeatOptions(
        order=order if order in ORDERS else "regression",
        differs="differs" in request.GET,
        task_type=request.GET.get("type", "")[:200],
        scores=request.GET.get("show") == "scores",
        page=int(page) if page.isascii() and page.isdigit() and len(page) < 6 else 1,
    )
