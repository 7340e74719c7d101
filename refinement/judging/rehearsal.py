"""Previews the prompts of a round without sending them, built by the same code as in a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from refinement.engine.kinds import Information, Role
from refinement.engine.safeguards import penalties_for
from refinement.engine.scoring import assess
from refinement.engine.steps import revise
from refinement.engine.types import (
    Assessment,
    CriterionScore,
    Draft,
    History,
    Judge,
    Revise,
    Round,
    Rubric,
    Verdict,
)
from refinement.judging.checks import run_checks
from refinement.judging.context import (
    OFFERED,
    Brief,
    JudgeView,
    ProducerView,
    calibration_of,
    judge_view,
    producer_view,
)
from refinement.judging.provenance import SOURCE_OF, TracedPrompt, trace_judge, trace_producer
from refinement.judging.sources import SourceText

EXAMPLE_SOURCE = SourceText(
    "example.md", "An example. In a run, the text of each of its sources stands in a block like this one."
)


class Visibility(StrEnum):
    """Whether a kind of information reaches a role's prompt."""

    SEEN = "seen"
    UNPRINTED = "unprinted"
    NOTHING = "nothing"
    WITHHELD = "withheld"


@dataclass(frozen=True, slots=True)
class AssumedScores:
    """An assumed verdict for a round that was not judged: the same score for every criterion."""

    score: Decimal
    issues: tuple[str, ...] = ()
    asi: str = ""


@dataclass(frozen=True, slots=True)
class RolePrompt:
    """One role's prompt in a round, and the visibility of each kind of information."""

    role: Role
    prompt: TracedPrompt
    visibility: Mapping[Information, Visibility]


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The prompts for judge, first draft and next revision. Without criteria there is no judge prompt."""

    judge: RolePrompt | None
    draft: RolePrompt
    revision: RolePrompt
    step: Revise


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


def rehearse(brief: Brief, history: History) -> Rehearsal:
    """The prompts for the last round of the history, which must be judged, and for the revision after it."""
    last = history.rounds[-1]
    assert last.assessment is not None
    step = revise(brief.rubric, history, last, last.assessment)
    judge = _judge_role_prompt(brief, history, Judge(last.number)) if brief.rubric.criteria else None
    return Rehearsal(
        judge=judge,
        draft=_producer_role_prompt(producer_view(brief, History(), Draft())),
        revision=_producer_role_prompt(producer_view(brief, history, step)),
        step=step,
    )


def _judge_role_prompt(brief: Brief, history: History, step: Judge) -> RolePrompt:
    view = judge_view(brief, history, step.round)
    prompt = trace_judge(view)
    return RolePrompt(Role.JUDGE, prompt, _visibility(view, prompt, Role.JUDGE))


def _producer_role_prompt(view: ProducerView) -> RolePrompt:
    prompt = trace_producer(view)
    return RolePrompt(Role.PRODUCER, prompt, _visibility(view, prompt, Role.PRODUCER))


def _visibility(
    view: JudgeView | ProducerView, prompt: TracedPrompt, role: Role
) -> dict[Information, Visibility]:
    """The visibility of each kind that the role can ever see, in display order."""
    return {kind: _visibility_of(kind, view, prompt) for kind in Information if kind in OFFERED[role]}


def _visibility_of(kind: Information, view: JudgeView | ProducerView, prompt: TracedPrompt) -> Visibility:
    if kind in view.withheld:
        return Visibility.WITHHELD
    if kind not in view.seen:
        return Visibility.NOTHING
    source = SOURCE_OF[kind]
    # A value changed by the template cannot be found in the prompt, so it is assumed to be printed.
    printed = source in prompt.sources or source in prompt.unmarked
    return Visibility.SEEN if printed else Visibility.UNPRINTED
