"""Edits of categories: name, note, pin, merge, separate, move issues, dismiss suggestions."""

from collections.abc import Sequence

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.failures.editing import CategoryForm, NamingForm
from refinement.models import FailureCategory, FailureIssue, FailureSuggestion
from refinement.providers.registry import parse_target
from refinement.selectors.endpoints import NoSuchEndpoint, endpoint_spec
from refinement.selectors.reviews.blindness import without_hidden
from refinement.services.failures.editing import (
    MOST_MERGED,
    MOST_MOVED,
    CategoryChanged,
    NotPossible,
    categories_merge,
    category_change,
    category_separate,
    issues_move,
    issues_split,
    suggestion_dismiss,
)
from refinement.services.failures.requesting import NamingUnderWay, failures_update, naming_request
from refinement.views.failures.categories import category_or_404, shown_category, to_category


@require_POST
@project_view("editor")
def failure_edit(request: ProjectRequest, category: int) -> HttpResponse:
    """Saves the name and the note."""
    row = category_or_404(request, category)
    form = CategoryForm(request.POST)
    if form.is_valid():
        try:
            category_change(row, request.user, **form.cleaned_data)
        except (CategoryChanged, NotPossible) as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, "Saved.")
            return to_category(request, row.pk)
    return shown_category(request, row, form=form)


@require_POST
@project_view("editor")
def failure_pin(request: ProjectRequest, category: int) -> HttpResponse:
    """Pins the category, or unpins it."""
    row = category_or_404(request, category)
    changed = category_change(row, request.user, pinned=request.POST.get("pinned") == "1")
    messages.success(request, f"“{row}” {'pinned' if changed.pinned else 'unpinned'}.")
    return back(request)


@require_POST
@project_view("editor")
def failure_dismiss_category(request: ProjectRequest, category: int) -> HttpResponse:
    """Marks the category as not an issue, or undoes that."""
    row = category_or_404(request, category)
    changed = category_change(row, request.user, dismissed=request.POST.get("dismissed") == "1")
    words = "is not an issue: figures leave it out." if changed.dismissed else "counts as an issue again."
    messages.success(request, f"“{row}” {words}")
    return back(request)


@require_POST
@project_view("editor")
def failure_merge(request: ProjectRequest, category: int) -> HttpResponse:
    """Merges the category into another one."""
    row = category_or_404(request, category)
    target = category_or_404(request, number_of(request.POST.get("into", "")))
    return merged(request, target, [row])


@require_POST
@project_view("editor")
def failure_separate(request: ProjectRequest, category: int) -> HttpResponse:
    """Undoes the merging of a category."""
    row = category_or_404(request, category)
    try:
        category_separate(row, request.user)
        messages.success(request, f"“{row}” is a category of its own again.")
    except NotPossible as refused:
        messages.error(request, str(refused))
    return to_category(request, row.pk)


@require_POST
@project_view("editor")
def failure_bulk(request: ProjectRequest) -> HttpResponse:
    """Merges, pins, unpins or dismisses the selected categories."""
    numbers = [number_of(value) for value in request.POST.getlist("category")[: MOST_MERGED + 1]]
    rows = [category_or_404(request, number) for number in numbers]
    act = request.POST.get("act", "")
    if not rows:
        messages.error(request, "Select at least one category.")
    elif act == "merge":
        return merged(request, rows[0], rows[1:])
    elif act == "dismiss":
        for row in rows:
            category_change(row, request.user, dismissed=True)
        messages.success(request, f"{len(rows)} marked as not an issue. They are at the end of the list.")
    elif act in ("pin", "unpin"):
        for row in rows:
            category_change(row, request.user, pinned=act == "pin")
        words = "category" if len(rows) == 1 else "categories"
        messages.success(request, f"{len(rows)} {words} {act}ned.")
    else:
        raise Http404("There is no such action.")
    return back(request)


def merged(request: ProjectRequest, into: FailureCategory, others: Sequence[FailureCategory]) -> HttpResponse:
    try:
        target = categories_merge(into, others, request.user)
    except NotPossible as refused:
        messages.error(request, str(refused))
        return back(request)
    names = " and ".join(f"“{other}”" for other in others[:3])
    messages.success(request, f"{names} merged into “{into}”. You can separate them on its page.")
    return to_category(request, target.pk)


@require_POST
@project_view("editor")
def failure_issues_move(request: ProjectRequest) -> HttpResponse:
    """Moves the selected issues to a category, to a new one, or out of all."""
    numbers = [number_of(value) for value in request.POST.getlist("issue")[: MOST_MOVED + 1]]
    found = FailureIssue.objects.filter(project=request.project, pk__in=numbers)
    issues = list(without_hidden(found, "run").select_related("project").order_by("pk"))
    target, name = request.POST.get("to", ""), request.POST.get("name", "")
    try:
        if target == "new":
            row = issues_split(
                issues, request.user, name=name, criterion=issues[0].criterion if issues else ""
            )
        else:
            chosen = None if target == "none" else category_or_404(request, number_of(target))
            row = issues_move(issues, request.user, to=chosen)  # type: ignore[assignment]
    except NotPossible as refused:
        messages.error(request, str(refused))
        return back(request)
    many = f"{len(issues)} issue{'' if len(issues) == 1 else 's'}"
    messages.success(request, f"{many} moved to “{row}”." if row else f"{many} moved: fits nowhere.")
    return to_category(request, row.pk) if row else back(request)


@require_POST
@project_view("editor")
def failure_dismiss(request: ProjectRequest, suggestion: int) -> HttpResponse:
    """Dismisses a suggestion to merge two categories, for good."""
    rows = FailureSuggestion.objects.select_related("first__project", "second")
    suggestion_dismiss(get_object_or_404(rows, project=request.project, pk=suggestion), request.user)
    messages.success(request, "Suggestion dismissed.")
    return back(request)


@require_POST
@project_view("editor")
def failure_update(request: ProjectRequest) -> HttpResponse:
    """Has new runs read now."""
    failures_update(request.project)
    return back(request)


@require_POST
@project_view("editor")
def failure_names(request: ProjectRequest) -> HttpResponse:
    """Has a model name the categories that nobody named."""
    form = NamingForm(request.POST)
    try:
        if not form.is_valid():
            raise ValueError("Choose a model, as ENDPOINT/MODEL.")
        target = parse_target(form.cleaned_data["model"])
        endpoint_spec(target.endpoint)
        naming_request(request.project, request.user, target)
        messages.success(request, "A model names the categories. Names that people gave stay.")
    except (ValueError, NoSuchEndpoint, NamingUnderWay) as refused:
        messages.error(request, str(refused))
    return back(request)


def back(request: ProjectRequest) -> HttpResponse:
    """To the page that the form was on."""
    place = request.POST.get("next", "")[:4_000]
    own = reverse("failure_page", args=[request.project.slug])
    safe = place.startswith(own) and url_has_allowed_host_and_scheme(place, allowed_hosts=None)
    return redirect(place if safe else own)


def number_of(text: str) -> int:
    """The number, or 0, which no row has."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else 0
