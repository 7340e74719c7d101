"""The trust page of a judge: what its scores are worth."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from refinement.access.judges import figures_or_blind, judge_or_404
from refinement.access.objects import can_edit
from refinement.access.projects import ProjectRequest, project_view
from refinement.selectors.trust.page import page_of
from refinement.services.trust.reports import trust_requested, trust_wanted
from refinement.views.trust.polling import polling
from refinement.views.trust.ways import ways_to_measure


@require_safe
@project_view()
def trust_page(request: ProjectRequest, judge: int) -> HttpResponse:
    """Figures that a worker computed, with their age; asked for if there are none."""
    record = judge_or_404(request, judge)
    figures_or_blind(request, record)
    stored = trust_wanted(record)
    context: dict[str, Any] = page_of(record, stored) | ways_to_measure(request, record)
    if "cases" in context:
        context["cases"] = [case for case in context["cases"] if not case.is_open_to(request.user.pk)]
    context |= {
        "section": "trust",
        "can_edit": can_edit(request),
        "poll": polling(request, stored),
    }
    is_partial = request.htmx and not request.htmx.boosted
    name = "_page" if is_partial else "page"
    return render(request, f"refinement/trust/{name}.html", context)


@require_POST
@project_view("editor")
def trust_compute(request: ProjectRequest, judge: int) -> HttpResponse:
    """Has the figures computed again."""
    record = judge_or_404(request, judge)
    trust_requested(record)
    return redirect("trust_page", request.project.slug, record.pk)
