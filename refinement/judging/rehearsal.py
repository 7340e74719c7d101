"""What each role would be sent in a round, without sending it: made by the code that a run uses."""

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
    Calibration,
    JudgeView,
    ProducerView,
    judge_view,
    producer_view,
)
from refinement.judging.provenance import SOURCE_OF, TracedPrompt, trace_judge, trace_producer


class Fate(StrEnum):
    """What became of a kind of information on its way to a role."""

    SEEN = "seen"
    UNPRINTED = "unprinted"
    NOTHING = "nothing"
    WITHHELD = "withheld"


@dataclass(frozen=True, slots=True)
class Said:
    """What a judge is taken to have said of a round that none has judged."""

    score: Decimal
    issues: tuple[str, ...] = ()
    asi: str = ""


@dataclass(frozen=True, slots=True)
class Act:
    """One role's prompt in a round, and what became of each kind of information it could be given."""

    role: Role
    prompt: TracedPrompt
    fates: Mapping[Information, Fate]


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The judge's prompt (none where checks alone decide), the first draft's and the next revision's."""

    judge: Act | None
    draft: Act
    revision: Act
    step: Revise


def brief_for(rubric: Rubric, task: str, nonce: str, seed: str = "") -> Brief:
    """What a run with this rubric knows at its start; its seed calibration comes from the rubric."""
    calibration = Calibration(rubric.seed_text, rubric.seed_scores) if rubric.seed_text else None
    return Brief(task, rubric, nonce, seed, calibration)


def assumed_round(rubric: Rubric, number: int, text: str, said: Said, base: int | None = None) -> Round:
    """A round as if a judge had said this of it; checks and penalties are the text's own."""
    return Round(number, text, assumed_assessment(rubric, text, assumed_verdict(rubric, said)), base)


def assumed_verdict(rubric: Rubric, said: Said) -> Verdict | None:
    if not rubric.criteria:
        return None
    scores = tuple(CriterionScore(criterion.key, said.score) for criterion in rubric.criteria)
    return Verdict(scores, said.issues, said.asi)


def assumed_assessment(rubric: Rubric, text: str, verdict: Verdict | None) -> Assessment:
    penalties = penalties_for(text, rubric.policy.penalties)
    return assess(rubric, verdict, run_checks(rubric.checks, text), penalties)


def assumed_history(rubric: Rubric, number: int, candidate: str, earlier: str, said: Said) -> History:
    """Rounds up to this one; those before it have the earlier text, or the candidate's own."""
    before = assumed_round(rubric, 1, earlier or candidate, said)
    rounds = [Round(each, before.candidate, before.assessment) for each in range(1, number)]
    return History((*rounds, assumed_round(rubric, number, candidate, said)))


def fits(rubric: Rubric, verdict: Verdict) -> bool:
    """Whether a verdict scores this rubric's criteria, all of them and on its scale."""
    keys = {criterion.key for criterion in rubric.criteria}
    return {entry.key for entry in verdict.scores} == keys and all(
        rubric.scale.admits(entry.score) for entry in verdict.scores
    )


def rehearse(brief: Brief, history: History) -> Rehearsal:
    """What would be sent about the history's last round, which has been judged: before, and after it."""
    last = history.rounds[-1]
    assert last.assessment is not None
    step = revise(brief.rubric, history, last, last.assessment)
    judge = _judge_act(brief, history, Judge(last.number)) if brief.rubric.criteria else None
    return Rehearsal(
        judge=judge,
        draft=_producer_act(producer_view(brief, History(), Draft())),
        revision=_producer_act(producer_view(brief, history, step)),
        step=step,
    )


def _judge_act(brief: Brief, history: History, step: Judge) -> Act:
    view = judge_view(brief, history, step.round)
    prompt = trace_judge(view)
    return Act(Role.JUDGE, prompt, _fates(view, prompt, Role.JUDGE))


def _producer_act(view: ProducerView) -> Act:
    prompt = trace_producer(view)
    return Act(Role.PRODUCER, prompt, _fates(view, prompt, Role.PRODUCER))


def _fates(view: JudgeView | ProducerView, prompt: TracedPrompt, role: Role) -> dict[Information, Fate]:
    """Each kind that the role could be given at all, in the order of the table people see."""
    return {kind: _fate(kind, view, prompt) for kind in Information if kind in OFFERED[role]}


def _fate(kind: Information, view: JudgeView | ProducerView, prompt: TracedPrompt) -> Fate:
    if kind in view.withheld:
        return Fate.WITHHELD
    if kind not in view.seen:
        return Fate.NOTHING
    source = SOURCE_OF[kind]
    # A value that a template changes cannot be found in its text, so nothing is said against it.
    printed = source in prompt.sources or source in prompt.unmarked
    return Fate.SEEN if printed else Fate.UNPRINTED
