"""Decisions on a run, next to the judge's result."""

from dataclasses import dataclass
from datetime import datetime

from refinement.engine.scoring import shown
from refinement.engine.sentences import round_name
from refinement.engine.types import Rubric
from refinement.models import Decision, DecisionKind, Run

MOST_LISTED = 50
DID = {
    DecisionKind.APPROVED: "approved",
    DecisionKind.CHANGES: "requested changes",
    DecisionKind.REJECTED: "rejected the run",
    DecisionKind.WITHDRAWN: "withdrew the decision",
}
BADGES = {
    DecisionKind.RESULT: ("chosen by people", "chip-info"),
    DecisionKind.APPROVED: ("approved", "chip-ok"),
    DecisionKind.CHANGES: ("changes requested", "chip-warn"),
    DecisionKind.REJECTED: ("rejected", "chip-bad"),
}


@dataclass(frozen=True, slots=True)
class DecisionLine:
    """A decision: who, what, why and when."""

    number: int
    who: str
    did: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class DecisionFacts:
    """The current decision if there is one, earlier ones, and the judge's result."""

    seen: int  # id of the newest decision; forms send it back
    judge: str
    current: DecisionLine | None
    badge: tuple[str, str] | None
    history: tuple[DecisionLine, ...]  # newest first
    more: int  # number of older ones


def decisions_of(run: Run, rubric: Rubric) -> DecisionFacts:
    """The run's decisions. One query."""
    rows = _newest(run.pk)
    lines = tuple(decision_line(row) for row in rows)
    seen = rows[0].number if rows else 0
    in_force = bool(rows) and rows[0].kind != DecisionKind.WITHDRAWN
    return DecisionFacts(
        seen=seen,
        judge=judge_result(run, rubric),
        current=lines[0] if in_force else None,
        badge=badge_of(rows[0].kind) if in_force else None,
        history=lines,
        more=max(0, seen - len(rows)),
    )


def _newest(run: int) -> list[Decision]:
    return list(Decision.objects.filter(run=run).order_by("-number")[:MOST_LISTED])


def decision_line(row: Decision) -> DecisionLine:
    """The decision as text: `approved round 3`."""
    named = round_name(row.round_number) if row.round_number else ""
    if row.kind == DecisionKind.RESULT:
        did = f"chose {named} as the result"
    else:
        did = " ".join(filter(None, (DID[DecisionKind(row.kind)], named)))
    return DecisionLine(row.number, row.author_name, did, row.reason, row.at)


def judge_result(run: Run, rubric: Rubric) -> str:
    """The judge's result in brief: `FAIL, best round 2 at 8.60`."""
    said = [run.outcome or "not finished"]
    if run.best_round and run.best is not None:
        said.append(f"best {round_name(run.best_round)} at {shown(run.best, rubric.policy)}")
    else:
        said.append("nothing judged")
    return ", ".join(said)


def badge_of(kind: str | None) -> tuple[str, str] | None:
    """A decision's short label and chip style; None without a current decision."""
    return BADGES.get(DecisionKind(kind)) if kind else None
