"""Steering and reviews for the run page."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from refinement.access.projects import ProjectRequest
from refinement.models import Run
from refinement.selectors.reviews.requests import reviews_of
from refinement.selectors.runs.answer import answer_of, people_scores
from refinement.selectors.runs.page import run_facts
from refinement.selectors.runs.steering import steering_of
from refinement.services.runs.steering import INSTRUCTION_CHARS
from refinement.views.reviews.queue import review_bar

TEAM_PARTS = {"instructions": "_instructions", "reviews": "_reviews"}


def team_context(request: ProjectRequest, run: Run) -> dict[str, Any]:
    """Steering, reviews and the review bar; one query each."""
    return {
        **steering_context(run),
        "reviews": reviews_of(run, request.membership),
        "review_bar": review_bar(request, run),
    }


def steering_context(run: Run) -> dict[str, Any]:
    return {"steering": steering_of(run), "instruction_chars": INSTRUCTION_CHARS}


def team_part(request: ProjectRequest, run: Run, part: str) -> HttpResponse:
    """One part, for an open page."""
    context: dict[str, Any] = {"run": run, "can_edit": request.membership.can_edit}
    if part == "reviews":
        facts = run_facts(run)
        context |= {"facts": facts, "answer": answer_of(facts, people_scores(run))}
        context["reviews"] = reviews_of(run, request.membership)
    else:
        context |= steering_context(run)
    return render(request, f"refinement/runs/{TEAM_PARTS[part]}.html", context)
