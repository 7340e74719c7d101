"""Blind scoring: a user who scores a run blind sees nothing of it but the scoring page."""

from typing import TYPE_CHECKING

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

if TYPE_CHECKING:
    from refinement.access.projects import ProjectRequest

# These pages redirect to the scoring page; everything else responds with 403.
PAGES = frozenset({"run_page", "run_round", "run_diff", "run_calls", "run_live", "run_compare"}) | frozenset(
    {"experiment_cell", "experiment_compare", "suite_history", "measurement_page"}
)


class ReadsBlind(Exception):
    """The user is scoring this run blind, so nothing else of it may be shown."""

    def __init__(self, run: int, number: int) -> None:
        super().__init__(
            f"You are scoring run {run} blind, so its other pages are hidden. "
            "Save your scores, or cancel blind scoring on the scoring page."
        )
        self.run, self.number = run, number

    def answer(self, request: "ProjectRequest") -> HttpResponse:
        """Redirect to the scoring page if the request was for a page. Raises PermissionDenied otherwise."""
        address = reverse("run_score", args=[request.project.slug, self.run, self.number])
        if request.htmx:
            return HttpResponseClientRedirect(address)
        match = request.resolver_match
        if request.method in ("GET", "HEAD") and match is not None and match.url_name in PAGES:
            return redirect(address)
        raise PermissionDenied(str(self))
