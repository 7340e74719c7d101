"""The page "Failures": what fails most, over any filter of runs. Its whole state is in the URL."""

from typing import Any

from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.runs.filters import OF_EXPERIMENTS, OWN, RunFilterForm
from refinement.models import FailureNaming, FailureReading, Report, ReportStatus
from refinement.selectors.failures.categories import ORDERS, RISING, categories_of
from refinement.selectors.failures.criteria import criteria_figures
from refinement.selectors.failures.issues import examples_of, shares_of, sources_share
from refinement.selectors.failures.others import (
    check_figures,
    error_kinds,
    failing_roles,
    invented_names,
    stop_reasons,
)
from refinement.selectors.failures.sentence import lowest_criteria, sentence_parts, top_issue
from refinement.selectors.failures.shown import categories_shown, category_shown, criteria_shown
from refinement.selectors.failures.window import (
    EXPERIMENTS,
    LEAVE_OUT,
    ONLY,
    SIZES,
    Window,
    experiments_choice,
    window_of,
    with_experiments,
)
from refinement.selectors.runs.listing.filter_options import run_options
from refinement.services.failures.requesting import failures_first_request

TABS = {
    "issues": "Criteria and issues",
    "checks": "Checks",
    "names": "Invented names",
    "stops": "Stops and errors",
}
MOST_SHOWN = 30  # categories; the others are behind a link
OPEN_STATUSES = (ReportStatus.QUEUED, ReportStatus.RUNNING)


@require_safe
@project_view()
def failure_page(request: ProjectRequest) -> HttpResponse:
    """What fails most in the newest runs that match the filters; a partial for htmx."""
    form = filter_form(request)
    window = page_window(request, form)
    tab = request.GET.get("tab", "")
    tab = tab if tab in TABS else "issues"
    report = failures_first_request(request.project)
    query = page_query(form, request.GET)
    context = {
        "section": "failures",
        "form": form,
        "chips": chips_of(form, request.GET),
        "window": window,
        "sizes": [(size, with_value(query, "window", str(size)), size == window.size) for size in SIZES],
        **experiments_context(form, request.GET, query),
        "tab": tab,
        "tabs": [(name, words, with_value(query, "tab", name)) for name, words in TABS.items()],
        "query": form.query(),
        "runs_query": runs_query(form, request.GET),
        "state_query": query.urlencode(),
        "scope_query": scope_query(query, window),
        "address": reverse("failure_page", args=[request.project.slug]),
        "can_edit": request.membership.can_edit,
        "mark": window.pass_mark,
        **progress(report, window),
        **tab_context(request, window, tab, query),
    }
    partial = request.htmx and not request.htmx.boosted
    template = "refinement/failures/_results.html" if partial else "refinement/failures/page.html"
    return render(request, template, context, status=200 if form.is_valid() else 422)


def filter_form(request: ProjectRequest) -> RunFilterForm:
    return RunFilterForm(request.GET, request.project, run_options(request.project), user=request.user)


def page_window(request: ProjectRequest, form: RunFilterForm) -> Window:
    """The newest runs that match the filters; without those of experiments, unless they are asked for."""
    filters = with_experiments(form.filters, request.GET.get("experiments", ""))
    return window_of(request.project, filters, size_of(request.GET))


def experiments_context(form: RunFilterForm, given: QueryDict, query: QueryDict) -> dict[str, Any]:
    """What the figures do with runs of experiments; nothing to choose for a project without experiments."""
    choice = experiments_choice(given.get("experiments", ""), form.filters)
    offered = len(getattr(form.fields["experiment"].widget, "choices", ())) > 1
    choices = [
        (words, with_value(query, "experiments", "" if name == LEAVE_OUT else name), name == choice)
        for name, words in EXPERIMENTS.items()
    ]
    return {
        "experiments": choices if choice and (offered or choice != LEAVE_OUT) else [],
        "experiments_chosen": "" if choice == LEAVE_OUT else choice,
    }


def size_of(query: QueryDict) -> int:
    """The chosen window, or the usual one."""
    return next((size for size in SIZES if query.get("window") == str(size)), SIZES[0])


def page_query(form: RunFilterForm, query: QueryDict) -> QueryDict:
    """The page's state as a query: valid filters, tab, window, order and criterion."""
    state = QueryDict(form.query(), mutable=True)
    for name in ("tab", "window", "experiments", "order", "criterion", "rising", "all"):
        if value := query.get(name, "")[:80]:
            state[name] = value
    return state


def with_value(query: QueryDict, name: str, value: str) -> str:
    changed = query.copy()
    changed.pop(name, None)
    if value:
        changed[name] = value
    return changed.urlencode()


def runs_query(form: RunFilterForm, given: QueryDict) -> str:
    """The same runs in the list of runs."""
    choice = experiments_choice(given.get("experiments", ""), form.filters)
    origin = {LEAVE_OUT: OWN, ONLY: OF_EXPERIMENTS}.get(choice)
    return form.query(origin=origin) if origin else form.query()


def scope_query(query: QueryDict, window: Window) -> str:
    """The runs that the page is about, for the pages of categories."""
    scope = query.copy()
    for name in ("tab", "order", "criterion", "rising", "all"):
        scope.pop(name, None)
    scope["window"] = str(window.size)
    return scope.urlencode()


def chips_of(form: RunFilterForm, query: QueryDict) -> list[tuple[str, str, str]]:
    """Each filter with the page's query without it."""
    return [(chip.label, chip.value, page_query_text(chip.without, query)) for chip in form.chips]


def page_query_text(filters: str, query: QueryDict) -> str:
    state = QueryDict(filters, mutable=True)
    for name in ("tab", "window", "experiments", "order", "criterion"):
        if value := query.get(name, "")[:80]:
            state[name] = value
    return state.urlencode()


def progress(report: Report, window: Window) -> dict[str, Any]:
    """How far reading is, and whether the page should ask again. A query unless all is done."""
    done = report.status in (ReportStatus.DONE, ReportStatus.FAILED)
    read = 0 if done else FailureReading.objects.filter(run__in=window.numbers).count()
    # A report waits some seconds after runs end.
    waiting = report.status == ReportStatus.WAITING and read < len(window.runs)
    working = waiting or report.status in OPEN_STATUSES
    return {
        "report": report,
        "read": read,
        "working": working and bool(window.runs),
        "failed": report.error if report.status == ReportStatus.FAILED else "",
    }


def tab_context(request: ProjectRequest, window: Window, tab: str, query: QueryDict) -> dict[str, Any]:
    if tab == "checks":
        return {"checks": check_figures(window)}
    if tab == "names":
        return {"names": invented_names(window)}
    if tab == "stops":
        return {
            "reasons": stop_reasons(window),
            "errors": error_kinds(window),
            "roles": failing_roles(window),
        }
    return issues_context(request, window, query)


def issues_context(request: ProjectRequest, window: Window, query: QueryDict) -> dict[str, Any]:
    """Criteria and categories, with examples of the first category."""
    criteria, rounds = criteria_figures(window)
    order = query.get("order", "")
    order = order if order in ORDERS else "share"
    chosen = query.get("criterion", "")
    found = categories_of(request.project, window, timezone.now(), criteria, order=order, criterion=chosen)
    listed = [entry for entry in found.listed if not query.get("rising") or entry.trend == RISING]
    rows = categories_shown(listed if query.get("all") else listed[:MOST_SHOWN], found.rest)
    first = listed[0] if listed else None
    naming = FailureNaming.objects.filter(project=request.project).first()
    return {
        "criteria": criteria_shown(criteria, window),
        "marked": any(window.mark_of(entry.key) is not None for entry in criteria),
        "judged_rounds": rounds,
        "answer": sentence_parts(window, criteria, found.listed),
        "found": found,
        "rows": rows,
        "more": len(listed) - MOST_SHOWN if not query.get("all") else 0,
        "more_query": with_value(query, "all", "1"),
        "dismissed": [category_shown(entry) for entry in found.dismissed],
        "suggestions": [
            (entry, category_shown(entry.first), category_shown(entry.second)) for entry in found.suggestions
        ],
        "orders": [(name, words, with_value(query, "order", name)) for name, words in ORDERS.items()],
        "order": ORDERS[order],
        "rising": bool(query.get("rising")),
        "rising_query": with_value(query, "rising", "" if query.get("rising") else "1"),
        "criterion": window.name_of(chosen) if chosen else "",
        "whole_query": with_value(query, "criterion", ""),
        "naming": naming,
        "examples": examples_of(request.project, first.row, window) if first else [],
        "shares": [*sources_share(first), *shares_of(window, first)][:6] if first else [],
        "first": first,
        "top": top_issue(lowest_criteria(window, criteria), found.listed),
    }
