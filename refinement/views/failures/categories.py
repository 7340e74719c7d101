"""A category with its issues, and the issues that fit nowhere."""

from typing import Any

from django.db.models import Count, Q
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.failures.editing import CategoryForm
from refinement.models import FailureCategory
from refinement.selectors.failures.categories import categories_of
from refinement.selectors.failures.criteria import criteria_figures
from refinement.selectors.failures.issues import (
    PAGE_SIZE,
    issue_page,
    issues_in,
    shares_of,
    sources_share,
)
from refinement.selectors.failures.lists import merge_targets, merged_of, names_of_criteria, rubrics_with
from refinement.selectors.failures.shown import category_shown
from refinement.selectors.failures.window import LEAVE_OUT, ONLY, Window, experiments_choice
from refinement.selectors.failures.wording import worded_visibly
from refinement.views.failures.page import filter_form, page_query, page_window, scope_query

LAST_PAGE = 2_000
RUNS_OF_EXPERIMENTS = Count("run", distinct=True, filter=Q(run__experiment__isnull=False))
MOST_SHARES = 6


@require_safe
@project_view()
def failure_category(request: ProjectRequest, category: int) -> HttpResponse:
    """A category: its name and note, its issues with their runs, and what was merged into it."""
    row = category_or_404(request, category)
    if row.merged_into_id is not None:
        return to_category(request, row.merged_into_id)
    return shown_category(request, row)


@require_safe
@project_view()
def failure_unplaced(request: ProjectRequest) -> HttpResponse:
    """The issues that fit nowhere, to be sorted by hand."""
    return shown_category(request, None)


def to_category(request: ProjectRequest, number: int) -> HttpResponse:
    """To a category's page, for the runs that the reader's page is about."""
    query = request.GET.urlencode()
    place = reverse("failure_category", args=[request.project.slug, number])
    return redirect(f"{place}?{query}" if query else place)


def category_or_404(request: ProjectRequest, number: int) -> FailureCategory:
    """The project's category, unless all its issues are of runs that the user is scoring blind."""
    rows = FailureCategory.objects.select_related("note_by", "merged_into")
    row = rows.filter(project=request.project, pk=number).first()
    if row is None or (request.blind_runs and not issues_in(request.project, row).exists()):
        raise Http404("There is no such category in this project.")
    row.project = request.project
    worded_visibly([row])
    return row


def shown_category(
    request: ProjectRequest, row: FailureCategory | None, *, form: CategoryForm | None = None
) -> HttpResponse:
    """The page, with the rejected form if there is one."""
    page = page_number(request)
    rows = issues_in(request.project, row)
    scope = scope_of(request)
    if scope:
        rows = rows.filter(run__in=scope["scope"].numbers)
        scope |= figures_in(request, row, scope["scope"])
    issues, more = issue_page(rows, page=page)
    can_edit = request.membership.can_edit
    targets = merge_targets(request.project, row) if can_edit else []
    keys = {issue.criterion for issue in issues} | {target.criterion for target in targets}
    names = names_of_criteria(request.project, keys | {row.criterion if row else ""})
    context: dict[str, Any] = {
        "section": "failures",
        "category": row,
        "criterion": names.get(row.criterion, "") if row else "",
        "issues": [(issue, "" if issue.guessed else names.get(issue.criterion, "")) for issue in issues],
        "total": rows.count(),
        **rows.aggregate(runs=Count("run", distinct=True), of_experiments=RUNS_OF_EXPERIMENTS),
        "merged": merged_of(row) if row else [],
        "page": page,
        "first": (page - 1) * PAGE_SIZE + 1,
        "last": (page - 1) * PAGE_SIZE + len(issues),
        "previous": page - 1 if page > 1 else 0,
        "following": page + 1 if more else 0,
        "can_edit": can_edit,
        "address": reverse("failure_category", args=[request.project.slug, row.pk])
        if row
        else reverse("failure_unplaced", args=[request.project.slug]),
        **scope,
    }
    if can_edit:
        context["targets"] = [(target, names.get(target.criterion, "")) for target in targets]
        context["form"] = form or (edit_form(row) if row else None)
        context["check_rubrics"] = rubrics_with(rows) if row else []
    status = 422 if form is not None else 200
    if request.htmx and not request.htmx.boosted and request.method != "POST":
        return render(request, "refinement/failures/_issues.html", context, status=status)
    return render(request, "refinement/failures/category.html", context, status=status)


def scope_of(request: ProjectRequest) -> dict[str, Any]:
    """The runs of the page "Failures" that the reader came from; nothing for all issues ever."""
    if "window" not in request.GET:
        return {}
    form = filter_form(request)
    window = page_window(request, form)
    choice = experiments_choice(request.GET.get("experiments", ""), form.filters)
    words = {LEAVE_OUT: "Excludes runs of experiments. ", ONLY: "Only runs of experiments. "}
    return {
        "scope": window,
        "scope_query": scope_query(page_query(form, request.GET), window),
        "chips": form.chips,
        "experiments_words": words.get(choice, ""),
    }


def figures_in(request: ProjectRequest, row: FailureCategory | None, window: Window) -> dict[str, Any]:
    """The category's figures among these runs, and where it comes from."""
    found = categories_of(request.project, window, timezone.now(), criteria_figures(window)[0])
    figures = found.of(row.pk) if row else None
    if figures is None:
        return {}
    shares = [*sources_share(figures), *shares_of(window, figures)]
    return {"figures": category_shown(figures), "shares": shares[:MOST_SHARES]}


def edit_form(row: FailureCategory) -> CategoryForm:
    return CategoryForm(initial={"edition": row.edition, "name": row.name, "note": row.note})


def page_number(request: ProjectRequest) -> int:
    given = request.GET.get("page", "")
    return min(LAST_PAGE, max(1, int(given))) if given.isascii() and given.isdigit() and len(given) < 9 else 1
