"""Requesting reviews of one or many runs, and cancelling requests."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.reviews.requests import ReviewAskForm
from refinement.models import Run, RunSource
from refinement.selectors.reviews.blindness import shown_runs
from refinement.services.reviews.bulk import runs_review
from refinement.services.reviews.requests import review_take_back
from refinement.services.runs.bulk import MOST_RUNS

SHOWN = ("pk", "title", "project_id")
ONE = 1


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def review_ask(request: ProjectRequest) -> HttpResponse:
    """Requests reviews of the runs in the query string. Errors are shown with the form."""
    runs = chosen_runs(request)
    if not runs:
        messages.error(request, "No runs selected. Select runs in the list and try again.")
        return redirect("run_list", request.project.slug)
    if request.method != "POST":
        return ask_page(request, runs, ReviewAskForm(project=request.project, me=request.user))
    form = ReviewAskForm(request.POST, project=request.project, me=request.user)
    if not form.is_valid():
        return ask_page(request, runs, form, status=422)
    given = form.cleaned_data
    try:
        asked = runs_review(
            project=request.project,
            runs=runs,
            reviewers=form.people,
            user=request.user,
            note=given["note"],
            due_on=given["due_on"],
        )
    except ValidationError as error:
        form.take_over(error)
        return ask_page(request, runs, form, status=422)
    tell(request, len(asked), len({entry.reviewer_id for entry in asked}))
    return redirect(back(request, runs))


def tell(request: ProjectRequest, asked: int, people: int) -> None:
    """Reports how many requests were created; duplicates are skipped."""
    if not asked:
        messages.warning(request, "Everyone you chose already has a request. Nothing was changed.")
        return
    requests = "1 review" if asked == ONE else f"{asked:,} reviews"
    of = "1 person" if people == ONE else f"{people} people"
    messages.success(request, f"{requests} requested from {of}.")


def chosen_runs(request: ProjectRequest) -> list[Run]:
    """This project's runs in the query string, in order, without the prepared example."""
    given = request.GET.getlist("run")[:MOST_RUNS]
    numbers = [int(value) for value in given if value.isascii() and value.isdigit() and len(value) <= 18]
    runs = list(
        shown_runs(request.project)
        .filter(pk__in=numbers)
        .exclude(source=RunSource.EXAMPLE)
        .only(*SHOWN)
        .order_by("pk")
    )
    for run in runs:
        run.project = request.project
    return runs


def back(request: ProjectRequest, runs: list[Run]) -> str:
    slug = request.project.slug
    return (
        reverse("run_page", args=[slug, runs[0].pk]) if len(runs) == ONE else reverse("run_list", args=[slug])
    )


def ask_page(
    request: ProjectRequest, runs: list[Run], form: ReviewAskForm, *, status: int = 200
) -> HttpResponse:
    context = {"section": "reviews", "runs": runs, "form": form, "back": back(request, runs)}
    return render(request, "refinement/reviews/ask.html", context, status=status)


@require_POST
@project_view()
def review_take_back_action(request: ProjectRequest, review: int) -> HttpResponse:
    """Cancels a request; for the requester and owners."""
    try:
        taken = review_take_back(project=request.project, number=review, membership=request.membership)
    except PermissionDenied as refused:
        messages.error(request, str(refused))
    else:
        if taken:
            messages.success(request, "Request cancelled.")
        else:
            messages.warning(request, "The request was already closed.")
    run = request.POST.get("run", "")
    if run.isascii() and run.isdigit() and len(run) <= 18:
        return redirect("run_page", request.project.slug, int(run))
    return redirect("review_list", request.project.slug)
