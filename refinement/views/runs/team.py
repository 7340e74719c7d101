"""Steering and reviews for the run page."""

from typing import Any

from refinement.access.projects import ProjectRequest
from refinement.models import Run
from refinement.selectors.reviews.requests import reviews_of
from refinement.selectors.runs.steering import steering_of
from refinement.services.runs.steering import INSTRUCTION_CHARS
from refinement.views.reviews.queue import review_bar


def team_context(request: ProjectRequest, run: Run) -> dict[str, Any]:
    """Steering, reviews and the review bar; one query each."""
    return {
        **steering_context(run),
        "reviews": reviews_of(run, request.membership),
        "review_bar": review_bar(request, run),
    }


def steering_context(run: Run) -> dict[str, Any]:
    return {"steering": steering_of(run), "instruction_chars": INSTRUCTION_CHARS}
