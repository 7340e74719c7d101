"""The run list; its whole state is in the URL."""

from typing import Any

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django_htmx.http import push_url

from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.runs.filters import RunFilterForm, ViewNameForm
from refinement.models import Run
from refinement.selectors.runs.filter_options import run_options
from refinement.selectors.runs.lists import RunsPage, runs_page
from refinement.selectors.runs.orders import Place, place_from
from refinement.selectors.runs.saved_views import views_of
from refinement.selectors.score_words import decimals_of


@require_safe
@project_view()
def run_list(request: ProjectRequest) -> HttpResponse:
    """The list, filtered, searched and sorted by the query string; a partial for htmx."""
    return shown_list(request, request.GET)


def shown_list(
    request: ProjectRequest, query: QueryDict, *, naming: ViewNameForm | None = None
) -> HttpResponse:
    """The list for this query, with the rejected form for a saved view if there is one."""
    form = RunFilterForm(query, request.project, run_options(request.project))
    place = _place(form, query)
    page = runs_page(request.project, form.filters, order=form.order, upwards=form.upwards, place=place)
    context = {**_context(request, form, page, place), "chosen": query.get("chosen") == "all"}
    context["naming"] = naming or ViewNameForm(auto_id="view-%s")
    status = 200 if form.is_valid() and naming is None else 422
    if request.htmx and not request.htmx.boosted:
        answer = render(request, "refinement/runs/list_results.html", context, status=status)
        shown = "?".join(filter(None, (context["address"], context["query"])))
        # Pushing the same URL twice would add a step to the browser's history.
        stays = request.htmx.current_url_abs_path == shown
        return push_url(answer, False if stays else shown)
    return render(request, "refinement/runs/list.html", context, status=status)


def _place(form: RunFilterForm, query: QueryDict) -> Place | None:
    for name, backwards in (("after", False), ("before", True)):
        if given := query.get(name):
            return place_from(given, form.order, backwards=backwards)
    return None


def _context(
    request: ProjectRequest, form: RunFilterForm, page: RunsPage, place: Place | None
) -> dict[str, Any]:
    project = request.project
    query = form.query()
    nothing = not page.lines and not form.chips
    return {
        "section": "runs",
        "form": form,
        "page": page,
        "decimals": decimals_of(entry.run for entry in page.lines),
        "query": query,
        "address": reverse("run_list", args=[project.slug]),
        "rubrics_address": reverse("rubric_list", args=[project.slug]),
        "first_page": place is None,
        "following": form.query(after=str(page.following)) if page.following else "",
        "previous": form.query(before=str(page.previous)) if page.previous else "",
        "views": list(views_of(project, request.user)),
        "can_edit": request.membership.can_edit,
        "never_ran": nothing and not Run.objects.filter(project=project).exists(),
    }
