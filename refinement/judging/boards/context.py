"""Decides what a judge in deliberation and the clerk may see. `judging/context.py` does so for other roles.

| view | sees | never sees |
|---|---|---|
| deliberation | besides what the judge saw: the others' scores and reasoning | the others' suggestions |
| merge | every verdict and suggestion of this round, the board's last summary | candidates |
| describe | the difference between two candidates, the feedback that led to it | scores |
| compose | the task, the criteria and the first candidate | |

A prompt is built only from a view, so nothing else can reach it.
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Any

from refinement.engine.boards import final_score, readable
from refinement.engine.types import (
    BoardVerdict,
    Criterion,
    CriterionStance,
    History,
    PanelJudge,
    PanelSummary,
    Scale,
    Stance,
    Verdict,
)
from refinement.judging.context import Brief
from refinement.judging.length import Excerpt, excerpt

DIFFERENCE_CHARS = 8_000
FEEDBACK_CHARS = 2_000
CANDIDATE_CHARS = 6_000  # of the candidate that a panel is composed for


@dataclass(frozen=True, slots=True)
class OpinionScore:
    """One judge's score with its reasoning. `before` is its own first score if it conceded."""

    key: str
    score: Decimal
    reasoning: str
    before: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one judge of the board says. Its suggestion and issues are for the clerk only."""

    name: str
    scores: tuple[OpinionScore, ...]
    asi: str = ""
    issues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeliberationView:
    """What a judge sees after it has scored: its own verdict, and the others' scores and reasoning."""

    nonce: str
    scale: Scale
    own: Verdict
    others: tuple[Opinion, ...]
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MergeView:
    """What the clerk merges."""

    nonce: str
    artifact_type: str
    criteria: tuple[Criterion, ...]
    opinions: tuple[Opinion, ...]
    previous: PanelSummary | None = None


@dataclass(frozen=True, slots=True)
class ComposeView:
    """What the clerk composes a panel from."""

    nonce: str
    artifact_type: str
    task: str
    criteria: tuple[Criterion, ...]
    candidate: Excerpt
    judges: int


@dataclass(frozen=True, slots=True)
class DescribeView:
    """What the clerk names a change by."""

    nonce: str
    difference: str
    feedback: str


def deliberation_view(
    brief: Brief, panel: Sequence[PanelJudge], board: Sequence[BoardVerdict], seat: int
) -> DeliberationView:
    """What the judge in this seat sees of the others: their first scores and reasoning, nothing else.

    Each judge reads them from the next seat on, so that nobody is always read first.
    """
    answers = sorted(readable(board), key=lambda answer: (answer.seat - seat) % len(panel))
    own = next(answer.verdict for answer in answers if answer.seat == seat)
    assert own is not None
    return DeliberationView(
        nonce=brief.nonce,
        scale=brief.rubric.scale,
        own=own,
        others=tuple(
            Opinion(panel[answer.seat - 1].name, _first_scores(answer.verdict))
            for answer in answers
            if answer.seat != seat and answer.verdict is not None
        ),
        keys=tuple(criterion.key for criterion in brief.rubric.criteria),
    )


def _first_scores(verdict: Verdict) -> tuple[OpinionScore, ...]:
    return tuple(OpinionScore(entry.key, entry.score, entry.reasoning) for entry in verdict.scores)


def merge_view(
    brief: Brief, panel: Sequence[PanelJudge], board: Sequence[BoardVerdict], history: History
) -> MergeView:
    """Every readable verdict on the last round, with its suggestion, after the deliberation."""
    summaries = [entry.summary for entry in history.rounds[:-1] if entry.summary is not None]
    return MergeView(
        nonce=brief.nonce,
        artifact_type=brief.rubric.artifact_type,
        criteria=brief.rubric.criteria,
        opinions=tuple(_final_opinion(panel, answer) for answer in readable(board)),
        previous=summaries[-1] if summaries else None,
    )


def _final_opinion(panel: Sequence[PanelJudge], answer: BoardVerdict) -> Opinion:
    assert answer.verdict is not None
    stances = {stance.key: stance for stance in answer.stances or ()}
    scores = tuple(
        OpinionScore(
            entry.key,
            final_score(answer, entry.key),
            " ".join(part for part in (entry.reasoning, _said(stances.get(entry.key))) if part),
            entry.score if final_score(answer, entry.key) != entry.score else None,
        )
        for entry in answer.verdict.scores
    )
    return Opinion(panel[answer.seat - 1].name, scores, answer.verdict.asi, answer.verdict.issues)


def _said(stance: CriterionStance | None) -> str:
    """What the judge added in the deliberation."""
    if stance is None or not stance.reasoning or stance.stance is Stance.AGREE:
        return ""
    return f"({stance.stance.capitalize()}: {stance.reasoning})"


def compose_view(brief: Brief, history: History, judges: int) -> ComposeView:
    """What a panel is composed for: the task, the criteria and the candidate that is judged first."""
    return ComposeView(
        nonce=brief.nonce,
        artifact_type=brief.rubric.artifact_type,
        task=brief.task,
        criteria=brief.rubric.criteria,
        candidate=excerpt(history.rounds[-1].candidate, CANDIDATE_CHARS),
        judges=judges,
    )


def describe_view(brief: Brief, before: str, after: str, feedback: Mapping[str, Any] | None) -> DescribeView:
    """The difference between two candidates, and the feedback that was given between them."""
    return DescribeView(
        nonce=brief.nonce,
        difference=excerpt(difference(before, after) or "(nothing changed)", DIFFERENCE_CHARS).text,
        feedback=excerpt(feedback_text(feedback or {}) or "(none)", FEEDBACK_CHARS).text,
    )


def difference(before: str, after: str) -> str:
    """The changed lines with - and + in front of them, and the lines next to them."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm="")
    # The first two lines name the files. A later line that starts with @@ is never one of the texts' own.
    return "\n".join(line for line in islice(lines, 2, None) if not line.startswith("@@"))


def feedback_text(feedback: Mapping[str, Any]) -> str:
    """The feedback of a revision as it is stored with its round. It contains no scores."""
    parts = [feedback.get("asi") or "", *feedback.get("issues", ()), *feedback.get("failure_texts", ())]
    parts += [entry["text"] for entry in feedback.get("instructions", ())]
    return "\n".join(part for part in parts if part)
