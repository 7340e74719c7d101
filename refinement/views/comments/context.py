"""Shared context of the thread views."""

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render

from refinement.access.objects import can_edit, reader_of
from refinement.access.projects import ProjectRequest
from refinement.forms.reviews.comments import ThreadForm, places_of
from refinement.models import Run
from refinement.selectors.reviews.comments import Shown, comment_threads
from refinement.selectors.runs.page import RunFacts, run_facts
from refinement.selectors.runs.rounds import RoundFacts, round_facts

MOST_DIGITS = 18
MOST_ABOUT = 100
CALLS = "calls"  # the view of a round that shows no text


@dataclass(frozen=True, slots=True)
class Refused:
    """An error, where on the page to show it, and the typed text."""

    where: str  # "new", "passage" or the thread's id
    words: tuple[str, ...]
    typed: str = ""


def threads_context(request: ProjectRequest, facts: RunFacts, found: RoundFacts | None) -> dict[str, Any]:
    """The threads of this round and the form for a new one."""
    asked = request.POST if request.method == "POST" else request.GET
    shown = (
        Shown(facts.run, facts.rubric)
        if found is None
        else Shown(facts.run, facts.rubric, found.row.number, found.row.candidate)
    )
    thread, about = number_in(asked.get("thread", "")), asked.get("about", "")[:MOST_ABOUT]
    talk = comment_threads(shown, reader_of(request), everything=asked.get("all") == "1", thread=thread)
    form = ThreadForm(None, number=shown.number, choices=places_of(found), about=about)
    return {
        "talk": talk,
        "thread_form": form,
        "thread_asked": thread,
        "about_asked": about,
        "talk_flat": asked.get("view") == CALLS,  # no text beside which threads could stand
        "can_instruct": can_edit(request) and not facts.run.is_imported,
    }


def threads_partial(
    request: ProjectRequest, run: Run, number: int | None, *, status: int = 200, **more: Any
) -> HttpResponse:
    """The threads as a partial."""
    facts = run_facts(run)
    found = round_facts(run, facts.rubric, number) if number is not None else None
    if number is not None and found is None:
        raise Http404("Round not found in this run.")
    context = {"run": run, "facts": facts, "opened": number, "round": found}
    context |= threads_context(request, facts, found) | more
    return render(request, "refinement/comments/_threads.html", context, status=status)


def number_in(text: str) -> int | None:
    """An id from a query string; None if not valid."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None
