"""Previews the prompts of a round without sending them, built by the same code as in a run."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from refinement.engine.kinds import Role
from refinement.engine.safeguards import penalties_for
from refinement.engine.scoring import assess
from refinement.engine.steps import revise
from refinement.engine.types import (
    Assessment,
    CriterionScore,
    Draft,
    History,
    Revise,
    Round,
    Rubric,
    Verdict,
)
from refinement.judging.boards.rehearsal import (
    BoardRehearsal,
    board_rehearsal,
    describe_prompt_of,
    stored_feedback,
)
from refinement.judging.checks import run_checks
from refinement.judging.context import Brief, ProducerView, calibration_of, judge_view, producer_view
from refinement.judging.contracts import contract_violation
from refinement.judging.provenance import trace_judge, trace_producer
from refinement.judging.sources import SourceText
from refinement.judging.visibility import RolePrompt, role_prompt

EXAMPLE_SOURCE = SourceText(
    "example.md", "An example. In a run, each of its sources is in a block like this one."
)


@dataclass(frozen=True, slots=True)
class AssumedScores:
    """An assumed verdict for a round that was not judged: the same score for every criterion."""

    score: Decimal
    issues: tuple[str, ...] = ()
    asi: str = ""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The prompts of a round: a single judge's or a board's, first draft, next revision, and the clerk's.

    Without criteria there is neither judge nor board. `describe` is None if no change is named.
    """

    judge: RolePrompt | None
    draft: RolePrompt
    revision: RolePrompt
    step: Revise
    board: BoardRehearsal | None = None
    describe: RolePrompt | None = None

    def prompts(self) -> Iterator[tuple[str, RolePrompt]]:
        """All prompts with their names, in the order in which a round needs them."""
        if self.judge is not None:
            yield "judge", self.judge
        if self.board is not None:
            yield from self._board_prompts(self.board)
        if self.describe is not None:
            yield "describe", self.describe
        yield from (("draft", self.draft), ("revision", self.revision))

    @staticmethod
    def _board_prompts(board: BoardRehearsal) -> Iterator[tuple[str, RolePrompt]]:
        if board.composes:
            yield "compose", board.compose()
        yield from ((f"judge-{seat}", board.score(seat)) for seat in board.seats)
        yield from ((f"deliberation-{seat}", board.deliberation(seat)) for seat in board.deliberates)
        yield "merge", board.merge()


def brief_for(
    rubric: Rubric, task: str, nonce: str, seed: str = "", sources: tuple[SourceText, ...] = ()
) -> Brief:
    """The brief of a run with this rubric."""
    return Brief(task, rubric, nonce, seed, calibration_of(rubric), sources=sources)


def assumed_round(
    rubric: Rubric, number: int, text: str, assumed: AssumedScores, base: int | None = None
) -> Round:
    """A round with an assumed verdict. Checks and penalties are computed from the text."""
    return Round(number, text, assumed_assessment(rubric, text, assumed_verdict(rubric, assumed)), base)


def assumed_verdict(rubric: Rubric, assumed: AssumedScores) -> Verdict | None:
    if not rubric.criteria:
        return None
    scores = tuple(CriterionScore(criterion.key, assumed.score) for criterion in rubric.criteria)
    return Verdict(scores, assumed.issues, assumed.asi)


def assumed_assessment(rubric: Rubric, text: str, verdict: Verdict | None) -> Assessment:
    penalties = penalties_for(rubric, text)
    return assess(rubric, verdict, run_checks(rubric.checks, text), penalties)


def assumed_history(
    rubric: Rubric, number: int, candidate: str, earlier: str, assumed: AssumedScores
) -> History:
    """Rounds up to this one. Earlier rounds use the earlier text, or the candidate if it is empty."""
    before = assumed_round(rubric, 1, earlier or candidate, assumed)
    rounds = [Round(each, before.candidate, before.assessment) for each in range(1, number)]
    return History((*rounds, assumed_round(rubric, number, candidate, assumed)))


def fits(rubric: Rubric, verdict: Verdict) -> bool:
    """Whether a verdict has a valid score for exactly this rubric's criteria."""
    keys = {criterion.key for criterion in rubric.criteria}
    return {entry.key for entry in verdict.scores} == keys and all(
        rubric.scale.admits(entry.score) for entry in verdict.scores
    )


def rehearse(brief: Brief, history: History, feedback: Mapping[str, Any] | None = None) -> Rehearsal:
    """The prompts for the last round of the history, which must be judged, and for the revision after it.

    `feedback` is what led to the last round, as it is stored; by default, what follows from the history.
    """
    last = history.rounds[-1]
    assert last.assessment is not None
    step = revise(brief.rubric, history, last, last.assessment)
    then = _when_judged(history)
    board = board_rehearsal(brief, then)
    given = feedback if feedback is not None else _assumed_feedback(brief.rubric, then)
    return Rehearsal(
        judge=_judge_role_prompt(brief, then) if brief.rubric.criteria and board is None else None,
        draft=_producer_role_prompt(producer_view(brief, History(), Draft())),
        revision=_producer_role_prompt(producer_view(brief, history, step)),
        step=step,
        board=board,
        describe=describe_prompt_of(brief, then, given),
    )


def _when_judged(history: History) -> History:
    """The history when its last round was judged: what happened after that round was not known."""
    last = history.rounds[-1].number
    return replace(
        history,
        extended_after=history.extended_after if history.extended_after < last else 0,
        escalated_after=history.escalated_after if history.escalated_after < last else 0,
    )


def _assumed_feedback(rubric: Rubric, history: History) -> dict[str, Any] | None:
    """The feedback after the round before the last."""
    *earlier, _ = history.rounds
    if not earlier or earlier[-1].assessment is None:
        return None
    before = replace(history, rounds=tuple(earlier))
    return stored_feedback(revise(rubric, before, earlier[-1], earlier[-1].assessment).feedback)


def _judge_role_prompt(brief: Brief, history: History) -> RolePrompt:
    last = history.rounds[-1]
    violation = contract_violation(brief.rubric, last.candidate)
    view = judge_view(brief, history, last.number, contract_violation=violation)
    return role_prompt(Role.JUDGE, view, trace_judge(view))


def _producer_role_prompt(view: ProducerView) -> RolePrompt:
    return role_prompt(Role.PRODUCER, view, trace_producer(view))
