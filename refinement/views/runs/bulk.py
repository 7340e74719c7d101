"""Bulk actions on runs selected in the list."""

from collections.abc import Callable

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import NoReverseMatch, reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from refinement.access.projects import ProjectRequest, project_view
from refinement.services.runs.bulk import (
    MOST_RUNS,
    BulkResult,
    runs_archive,
    runs_cancel,
    runs_tag,
    runs_unarchive,
    runs_untag,
)

FEWEST_COMPARED, MOST_COMPARED = 2, 5
REASONS_SHOWN = 3
LONGEST_QUERY = 10_000
CHANGES: dict[str, tuple[Callable[..., BulkResult], str]] = {
    "tag": (runs_tag, "tagged"),
    "untag": (runs_untag, "untagged"),
    "cancel": (runs_cancel, "stopped"),
    "archive": (runs_archive, "archived"),
    "unarchive": (runs_unarchive, "unarchived"),
}
# Actions that continue on a page of their own.
ONWARD = {"review": "review_ask", "suite": "suite_collect", "training": "run_training"}
FOR_EDITORS = dict.fromkeys(CHANGES, "change runs") | {
    "review": "request reviews",
    "suite": "add tasks to a suite",
}
EXPORTS = {"export_csv": "csv", "export_jsonl": "jsonl"}


@require_POST
@project_view()
def run_bulk(request: ProjectRequest) -> HttpResponse:
    """Compares, exports or changes the selected runs, and reports the result."""
    action = request.POST.get("action", "")
    refuse_viewers(request, action)
    numbers = chosen(request)
    if not numbers:
        messages.error(request, "No runs selected. Select runs in the list and try again.")
        return back(request)
    if action == "compare":
        return compared(request, numbers)
    if action in ONWARD:
        return onward(request, ONWARD[action], numbers)
    if action in EXPORTS:
        return onward(request, "run_export_many", numbers, form=EXPORTS[action])
    if action not in CHANGES:
        messages.error(request, "Choose an action above the list.")
        return back(request)
    return changed(request, action, numbers)


def refuse_viewers(request: ProjectRequest, action: str) -> None:
    if action in FOR_EDITORS and not request.membership.can_edit:
        raise PermissionDenied(
            f"You are a viewer in {request.project.name}. Only editors and owners can {FOR_EDITORS[action]}. "
            "Ask an owner to change your role."
        )


def chosen(request: ProjectRequest) -> list[int]:
    """The selected run numbers, in order; other values are ignored."""
    given = request.POST.getlist("run")[:MOST_RUNS]
    return [int(value) for value in given if value.isascii() and value.isdigit() and len(value) <= 18]


def compared(request: ProjectRequest, numbers: list[int]) -> HttpResponse:
    if not FEWEST_COMPARED <= len(numbers) <= MOST_COMPARED:
        messages.error(
            request,
            (f"Select {FEWEST_COMPARED} to {MOST_COMPARED} runs to compare; you selected {len(numbers)}."),
        )
        return back(request)
    return onward(request, "run_compare", numbers)


def onward(request: ProjectRequest, name: str, numbers: list[int], **where: str) -> HttpResponse:
    try:
        address = reverse(name, kwargs={"slug": request.project.slug, **where})
    except NoReverseMatch:
        messages.error(request, "This is not available on this instance yet.")
        return back(request)
    return redirect(f"{address}?{urlencode({'run': numbers}, doseq=True)}")


def changed(request: ProjectRequest, action: str, numbers: list[int]) -> HttpResponse:
    change, done = CHANGES[action]
    extra = {"names": [request.POST.get("tags", "")]} if action in ("tag", "untag") else {}
    try:
        result = change(project=request.project, numbers=numbers, user=request.user, **extra)
    except ValidationError as refused:
        messages.error(request, f"Nothing was changed. {' '.join(refused.messages)}")
        return back(request)
    if result.done:
        messages.success(request, f"{counted(result.done)} {done}.")
    if result.refused:
        messages.warning(request, refusal_message(result))
    return back(request)


def counted(count: int) -> str:
    return "1 run was" if count == 1 else f"{count:,} runs were"


def refusal_message(result: BulkResult) -> str:
    """How many runs could not be changed, and why."""
    count = len(result.refused)
    start = f"{counted(count)} not changed."
    more = f" And {count - REASONS_SHOWN:,} more." if count > REASONS_SHOWN else ""
    return f"{start} {' '.join(result.refused[:REASONS_SHOWN])}{more}"


def back(request: ProjectRequest) -> HttpResponse:
    """Redirects to the list as it was."""
    query = request.POST.get("query", "")[:LONGEST_QUERY]
    address = reverse("run_list", args=[request.project.slug])
    return redirect(f"{address}?{query}" if query else address)
