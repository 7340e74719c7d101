"""The text pane of a run's page: a round's text, what changed in it, or its model calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404

from refinement.access.projects import ProjectRequest
from refinement.engine.sentences import round_name
from refinement.models import Call
from refinement.selectors.runs.calls import call_lines
from refinement.selectors.runs.page import RunFacts
from refinement.selectors.runs.rounds import RoundFacts
from refinement.selectors.runs.texts.blame import round_blame
from refinement.selectors.runs.texts.diffs import round_diff
from refinement.selectors.runs.texts.texts import candidate_text

TEXT, LINES, CHANGES, START, SIDES, CALLS = "text", "raw", "changes", "start", "sides", "calls"
BLAME = "blame"
VIEWS = (TEXT, LINES, CHANGES, START, SIDES, BLAME, CALLS)
COMPARED = (CHANGES, START, SIDES)


@dataclass(frozen=True, slots=True)
class Pane:
    """What the pane shows. `asked` is the reader's choice, which another round may not offer."""

    view: str
    asked: str
    before: int | None  # the round that this one is compared with by default
    before_name: str  # of the round that the changes are from
    calls: int


def pane_context(
    request: ProjectRequest, facts: RunFacts, found: RoundFacts, calls: Sequence[Call], threads: Any
) -> dict[str, Any]:
    """The pane's tabs, and what the open one shows."""
    asked = request.GET.get("view", TEXT)
    asked = asked if asked in VIEWS else TEXT
    before = base_of(facts, found)
    other = number_from(request.GET.get("from"), 1 if asked == START else before or 0)
    if asked == CHANGES and other == 1 and before and before > 1:
        asked = START
    view = TEXT if asked in COMPARED and not other else asked
    base = other if view == CHANGES else before
    pane = Pane(view, asked, before, round_name(base) if base else "", len(calls))
    if view in COMPARED:
        return {"pane": pane, **diff_context(facts, other, found.row.number, sides=view == SIDES)}
    if view == BLAME:
        return {"pane": pane, "blame": round_blame(facts.run, facts.rubric, found.row.number)}
    if view == CALLS:
        return {"pane": pane, "calls": call_lines(calls)}
    raw = view == LINES
    beside = {"marks": marks_of(found), "threads": threads.marks}
    return {"pane": pane, "text": candidate_text(found.row.candidate, raw=raw, **beside)}


def base_of(facts: RunFacts, found: RoundFacts) -> int | None:
    """The round that this one was written from, else the one before it."""
    number = found.row.number
    numbers = [line.number for line in facts.rounds if line.number < number]
    if found.row.base_round in numbers:
        return found.row.base_round
    return numbers[-1] if numbers else None


def diff_context(facts: RunFacts, a: int, b: int, *, sides: bool) -> dict[str, Any]:
    diff = round_diff(facts.run, facts.rubric, a, b, sides=sides)
    if diff is None:
        raise Http404("Round not found in this run.")
    return {"a": a, "b": b, "sides": sides, "diff": diff}


def marks_of(found: RoundFacts) -> list[tuple[int, str]]:
    """Failed checks by line."""
    return [
        (check.line, f"{check.key}: {check.message}")
        for check in found.checks
        if check.line is not None and not check.passed
    ]


def number_from(text: str | None, otherwise: int) -> int:
    if not text:
        return otherwise
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Http404("Rounds are given by number.")
    return int(text)
