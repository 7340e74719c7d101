"""Downloads of what fails most: the categories as a table, or everything as a report."""

from collections.abc import Iterator

from django.http import Http404, HttpResponse, HttpResponseBase
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from refinement.access.projects import ProjectRequest, project_view
from refinement.downloads import sent
from refinement.interchange.exports.failures import failures_csv, failures_markdown
from refinement.selectors.failures.categories import categories_of
from refinement.selectors.failures.criteria import criteria_figures
from refinement.selectors.failures.others import (
    check_figures,
    error_kinds,
    failing_roles,
    invented_names,
    stop_reasons,
)
from refinement.selectors.failures.sentence import sentence_parts
from refinement.selectors.failures.tables import (
    categories_table,
    checks_table,
    counts_table,
    criteria_table,
    names_table,
)
from refinement.selectors.failures.window import Window
from refinement.views.failures.page import filter_form, page_window

FORMS = ("csv", "md")


@require_safe
@never_cache
@project_view()
def failure_export(request: ProjectRequest, form: str) -> HttpResponseBase:
    """The categories as CSV, or a Markdown report of everything; with the page's filters."""
    if form not in FORMS:
        raise Http404(f"Failures cannot be exported as {form[:20]!r}.")
    filters = filter_form(request)
    if not filters.is_valid():
        return HttpResponse("These filters are not valid.", status=422, content_type="text/plain")
    window = page_window(request, filters)
    pieces = categories_csv(request, window) if form == "csv" else report(request, window)
    return sent(request, iter(list(pieces)), f"{request.project.slug}-failures", form)


def categories_csv(request: ProjectRequest, window: Window) -> Iterator[str]:
    found = categories_of(request.project, window, timezone.now(), criteria_figures(window)[0])
    return failures_csv(categories_table([*found.listed, found.rest]))


def report(request: ProjectRequest, window: Window) -> Iterator[str]:
    criteria, rounds = criteria_figures(window)
    found = categories_of(request.project, window, timezone.now(), criteria)
    answer = "".join(text for text, _ in sentence_parts(window, criteria, found.listed))
    about = [
        answer,
        f"{request.project.name}: the newest {len(window.runs):,} matching runs, {rounds:,} judged rounds, "
        f"{found.issues:,} issues. {timezone.localtime():%-d %B %Y}",
    ]
    return failures_markdown(
        "Failures",
        [line for line in about if line],
        [
            ("Criteria", criteria_table(criteria)),
            ("Categories", categories_table([*found.listed, found.rest])),
            ("Checks", checks_table(check_figures(window))),
            ("Invented names", names_table(invented_names(window))),
            ("Stop reasons", counts_table("reason", stop_reasons(window))),
            ("Failed calls", counts_table("error", error_kinds(window))),
            ("Runs that ended in an error", counts_table("role", failing_roles(window))),
        ],
    )
