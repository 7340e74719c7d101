"""The run list; its whole state is in the URL, but for the columns, which are in a cookie."""

from typing import Any

from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import push_url

from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.runs.filters import RunFilterForm, ViewNameForm
from refinement.models import Project, Run, RunSource
from refinement.selectors.health import endpoint_health
from refinement.selectors.runs.listing.columns import COLUMNS, columns_from, columns_text
from refinement.selectors.runs.listing.filter_options import run_options
from refinement.selectors.runs.listing.filters import RunFilters, runs_matching
from refinement.selectors.runs.listing.lists import RunsPage, runs_page
from refinement.selectors.runs.listing.orders import NEWEST, ORDERS, Place, place_from
from refinement.selectors.runs.listing.rows import rows_of
from refinement.selectors.runs.listing.saved_views import views_of
from refinement.selectors.runs.listing.tabs import MOST_COUNTED, counted, tabs_of
from refinement.views.projects.home import has_own_model

COLUMNS_COOKIE = "run_columns"
A_YEAR = 365 * 24 * 3600
LONGEST_QUERY = 10_000
# Order of the list by the name of its heading.
SORTED = (
    *("outcome", "title", "rubric", "r1", "best", "improvement", "people"),
    *("tokens", "rounds", "time", "newest"),
)


@require_safe
@project_view()
def run_list(request: ProjectRequest) -> HttpResponse:
    """The list, filtered, searched and sorted by the query string; a partial for htmx."""
    return shown_list(request, request.GET)


@require_POST
@project_view()
def run_columns(request: ProjectRequest) -> HttpResponse:
    """Keeps the chosen columns for this browser, and returns to the list as it was."""
    query = request.POST.get("query", "")[:LONGEST_QUERY]
    answer = redirect(f"{reverse('run_list', args=[request.project.slug])}{'?' if query else ''}{query}")
    if "usual" in request.POST:
        answer.delete_cookie(COLUMNS_COOKIE)
        return answer
    chosen = columns_text(request.POST.getlist("column"))
    answer.set_cookie(
        COLUMNS_COOKIE, chosen, max_age=A_YEAR, httponly=True, samesite="Lax", secure=request.is_secure()
    )
    return answer


def shown_list(
    request: ProjectRequest, query: QueryDict, *, naming: ViewNameForm | None = None
) -> HttpResponse:
    """The list for this query, with the rejected form for a saved view if there is one."""
    form = RunFilterForm(query, request.project, run_options(request.project), user=request.user)
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
    project, chips = request.project, form.chips
    shown = columns_from(request.COOKIES.get(COLUMNS_COOKIE))
    never_ran = not page.lines and not chips and not _has_runs(project)
    context = {
        "section": "runs",
        "form": form,
        "chips": chips,
        "page": page,
        "rows": rows_of(page.lines, request.user, form.filters.words, request.project),
        "columns": {name: name in shown for name, _, _ in COLUMNS},
        "column_choices": [(name, label, name in shown) for name, label, _ in COLUMNS],
        "sorts": _sorts(form),
        "query": form.query(),
        "unsorted": form.query(without="sort"),
        "address": reverse("run_list", args=[project.slug]),
        "rubrics_address": reverse("rubric_list", args=[project.slug]),
        "first_page": place is None,
        "following": form.query(after=str(page.following)) if page.following else "",
        "previous": form.query(before=str(page.previous)) if page.previous else "",
        "can_edit": request.membership.can_edit,
        "never_ran": never_ran,
        "needs_server": never_ran and request.membership.can_edit and not _own_model(),
    }
    return context if never_ran else context | _counts(request, form, page, place)


def _own_model() -> bool:
    return has_own_model([("Model servers", endpoint_health(), False)])


def _has_runs(project: Project) -> bool:
    """Whether the project has runs, archived ones included. The prepared example is none."""
    return Run.objects.filter(project=project).exclude(source=RunSource.EXAMPLE).exists()


def _counts(
    request: ProjectRequest, form: RunFilterForm, page: RunsPage, place: Place | None
) -> dict[str, Any]:
    """How many runs there are and match, and the tabs."""
    total = counted(runs_matching(request.project, RunFilters()), MOST_COUNTED)
    tabs, more_tabs = tabs_of(
        request.project,
        list(views_of(request.project, request.user)),
        lambda query: RunFilterForm(QueryDict(query), request.project, user=request.user).filters,
        total=total,
        user=request.user.pk,
        can_edit=request.membership.can_edit,
    )
    return {
        "total": total,
        "matching": _matching(request, form, page, place) if form.chips else total,
        "tabs": tabs,
        "more_tabs": more_tabs,
    }


def _matching(request: ProjectRequest, form: RunFilterForm, page: RunsPage, place: Place | None) -> str:
    """How many runs match; of a search only what the page shows is known."""
    alone = place is None and not page.following
    if alone or form.filters.words:
        return f"{len(page.lines):,}{'' if alone else '+'}"
    return counted(runs_matching(request.project, form.filters), MOST_COUNTED)


def _sorts(form: RunFilterForm) -> dict[str, dict[str, str]]:
    """For each sortable heading: the query string that sorts by it, and how it is sorted now."""
    found = {}
    for name in SORTED:
        current = form.order.name == name
        up = not form.upwards if current else ORDERS[name].rises
        given = f"-{name}" if up else "" if name == NEWEST.name else name
        sorted_now = ("ascending" if form.upwards else "descending") if current else ""
        found[name] = {
            "query": form.query(without="sort", **({"sort": given} if given else {})),
            "now": sorted_now,
            "arrow": {"ascending": " ↑", "descending": " ↓"}.get(sorted_now, ""),
        }
    return found
