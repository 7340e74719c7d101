"""The review queue, and stepping through it run by run."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from refinement.access.objects import must_read_blind, run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.models import Run
from refinement.selectors.reviews.requests import Place, place_of, reviews_page
from refinement.services.reviews.requests import review_done

REVIEWING = "reviewing"  # session key: the project whose queue the user is going through


@require_safe
@project_view()
def review_list(request: ProjectRequest) -> HttpResponse:
    """The user's queue, others' open requests, and completed reviews."""
    leave(request)
    context = {
        "section": "reviews",
        "tab": "queue",
        "page": reviews_page(request.membership),
        "can_edit": request.membership.can_edit,
    }
    return render(request, "refinement/reviews/list.html", context)


@require_POST
@project_view()
def review_close(request: ProjectRequest, run: int) -> HttpResponse:
    """Completes the user's review and shows the next run."""
    found = run_or_404(request, run, whole=False)
    before = place_of(run, request.user, request.project)
    if review_done(run=found, user=request.user):
        messages.success(request, f"Review of run {run} completed.")
    else:
        messages.warning(request, f"Run {run} was not in your queue any more.")
    return onward(request, before)


def onward(request: ProjectRequest, before: Place) -> HttpResponse:
    """Redirects to the next run in the queue, else the first, else the list."""
    slug = request.project.slug
    following = before.following or place_of(0, request.user, request.project).following
    if following is None:
        return redirect("review_list", slug)
    return redirect(f"{reverse('run_page', args=[slug, following])}?review=1")


@require_safe
@project_view()
def review_next(request: ProjectRequest) -> HttpResponse:
    """Redirects to the most urgent review."""
    return onward(request, place_of(0, request.user, request.project))


def scores_first(request: ProjectRequest, run: Run) -> HttpResponse | None:
    """Redirects a reviewer to the scoring page where the project wants scores that saw no others."""
    if request.GET.get("review") != "1" or not run.best_round or not must_read_blind(request, run):
        return None
    request.session[REVIEWING] = request.project.slug
    return redirect("run_score", request.project.slug, run.pk, run.best_round)


@dataclass(frozen=True, slots=True)
class Bar:
    """The bar above a run while a user goes through their queue."""

    place: Place
    previous: str
    following: str


def review_bar(request: ProjectRequest, run: Run) -> Bar | None:
    """The bar, for users who came from their queue."""
    if request.GET.get("review") == "1" and request.session.get(REVIEWING) != request.project.slug:
        request.session[REVIEWING] = request.project.slug
    if request.session.get(REVIEWING) != request.project.slug:
        return None
    place = place_of(run.pk, request.user, request.project)
    if not place.number and request.GET.get("review") != "1":
        return None  # a run that nobody asked them to review

    def address(number: int | None) -> str:
        return f"{reverse('run_page', args=[request.project.slug, number])}?review=1" if number else ""

    return Bar(place, address(place.previous), address(place.following))


def leave(request: ProjectRequest) -> None:
    """Opening the list ends the review session."""
    if REVIEWING in request.session:
        del request.session[REVIEWING]
