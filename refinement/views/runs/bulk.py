"""What is done to several runs at once, from the boxes of the list."""

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
    "untag": (runs_untag, "freed of the tag"),
    "cancel": (runs_cancel, "cancelled"),
    "archive": (runs_archive, "put into the archive"),
    "unarchive": (runs_unarchive, "brought back from the archive"),
}
EXPORTS = {"export_csv": "csv", "export_jsonl": "jsonl"}


@require_POST
@project_view()
def run_bulk(request: ProjectRequest) -> HttpResponse:
    """Compares or exports the chosen runs, or changes them, and says what came of it."""
    action = request.POST.get("action", "")
    if action in CHANGES and not request.membership.can_edit:
        raise PermissionDenied(
            f"You are a viewer in {request.project.name}; its editors and owners change runs. "
            "An owner can change your role."
        )
    if action == "review" and not request.membership.can_edit:
        raise PermissionDenied(f"You are a viewer in {request.project.name}; its editors ask for reviews.")
    numbers = chosen(request)
    if not numbers:
        messages.error(request, "No run was chosen. Tick the boxes of the runs you mean, then try again.")
        return back(request)
    if action == "compare":
        return compared(request, numbers)
    if action == "review":
        return onward(request, "review_ask", numbers)
    if action == "training":
        return onward(request, "run_training", numbers)
    if action in EXPORTS:
        return onward(request, "run_export_many", numbers, form=EXPORTS[action])
    if action not in CHANGES:
        messages.error(request, "Choose what to do with the runs: the buttons stand above the list.")
        return back(request)
    return changed(request, action, numbers)


def chosen(request: ProjectRequest) -> list[int]:
    """The ticked runs in their order; what is no number was not ticked."""
    given = request.POST.getlist("run")[:MOST_RUNS]
    return [int(value) for value in given if value.isascii() and value.isdigit() and len(value) <= 18]


def compared(request: ProjectRequest, numbers: list[int]) -> HttpResponse:
    if not FEWEST_COMPARED <= len(numbers) <= MOST_COMPARED:
        messages.error(
            request, f"{FEWEST_COMPARED} to {MOST_COMPARED} runs can be compared; you chose {len(numbers)}."
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
        messages.warning(request, refusal_words(result))
    return back(request)


def counted(count: int) -> str:
    return "1 run was" if count == 1 else f"{count:,} runs were"


def refusal_words(result: BulkResult) -> str:
    """How many could not be changed, and why the first of them could not."""
    count = len(result.refused)
    start = f"{counted(count)} left as {'it is' if count == 1 else 'they are'}."
    more = f" And {count - REASONS_SHOWN:,} more." if count > REASONS_SHOWN else ""
    return f"{start} {' '.join(result.refused[:REASONS_SHOWN])}{more}"


def back(request: ProjectRequest) -> HttpResponse:
    """To the list as it was."""
    query = request.POST.get("query", "")[:LONGEST_QUERY]
    address = reverse("run_list", args=[request.project.slug])
    return redirect(f"{address}?{query}" if query else address)
