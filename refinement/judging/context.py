"""Decides what each role may see, from the run's brief, its history and the rubric's context rules.

A prompt is built only from a view, so information withheld by a rule cannot reach it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TypeVar

from refinement.engine.reflect import Exploration
from refinement.engine.sentences import round_name
from refinement.engine.stopping import round_limit
from refinement.engine.types import (
    CheckResult,
    Criterion,
    Draft,
    EvaluationMode,
    EvaluatorOutput,
    Feedback,
    FeedbackStyle,
    History,
    Information,
    Instruction,
    NextBase,
    PanelJudge,
    PanelSummary,
    ProblemClass,
    Repair,
    Revise,
    Role,
    Round,
    Rubric,
    Scale,
)
from refinement.judging.history import (
    HistoryLine,
    NamedMetric,
    NamedScore,
    asi_of,
    assessment_of,
    condensed,
    explored,
    learned,
    named_metrics,
    named_scores,
)
from refinement.judging.length import Excerpt, excerpt
from refinement.judging.lenses import Lens, lens_of
from refinement.judging.schema import asks_about_contract, example_reply
from refinement.judging.sources import ShownSource, SourceText, shown_sources

Value = TypeVar("Value")

PRODUCER_TEMPLATES = ("draft", "revision", "feedback")
KINDS = tuple(Information)
EVALUATOR_CHARS = 6_000  # for each of stdout and stderr

# The most a role can ever see. A rubric's rules can only narrow this down.
OFFERED: Mapping[Role, frozenset[Information]] = {
    Role.JUDGE: frozenset(
        {
            Information.TASK,
            Information.CRITERIA,
            Information.ROUND_NUMBER,
            Information.CANDIDATE,
            Information.BACKGROUND,
            Information.OUTPUT_CONTRACT,
            Information.SEED,
            Information.SEED_SCORES,
            Information.SOURCES,
            Information.CALIBRATION,
            Information.CALIBRATION_SCORES,
            Information.EVALUATOR_OUTPUT,
            Information.PREVIOUS_ASI,
            Information.HISTORY,
            Information.SEARCH_SPACE,
            Information.PANEL_SUMMARY,
        }
    ),
    Role.PRODUCER: frozenset(
        {
            Information.TASK,
            Information.CRITERIA,
            Information.CANDIDATE,
            Information.BACKGROUND,
            Information.OUTPUT_CONTRACT,
            Information.SOURCES,
            Information.FEEDBACK,
            Information.SEARCH_SPACE,
            Information.PANEL_SUMMARY,
        }
    ),
}


@dataclass(frozen=True, slots=True)
class Calibration:
    """The rubric's calibration example: a text of its own with known scores, not a round of the run."""

    text: str
    scores: Mapping[str, Decimal]


def calibration_of(rubric: Rubric) -> Calibration | None:
    """The rubric's calibration example, if it has one."""
    return (
        Calibration(rubric.calibration_text, rubric.calibration_scores) if rubric.calibration_text else None
    )


@dataclass(frozen=True, slots=True)
class Brief:
    """Everything known at the start of a run. `seed` is empty if the producer writes the first draft."""

    task: str
    rubric: Rubric
    nonce: str
    seed: str = ""
    calibration: Calibration | None = None
    sources: tuple[SourceText, ...] = ()
    task_type: str = ""


@dataclass(frozen=True, slots=True)
class JudgeView:
    """What a judge may see in one round. None or empty values are withheld or do not exist."""

    profile: str
    nonce: str
    scale: Scale
    problem_class: ProblemClass
    evaluation_mode: EvaluationMode  # judge-only if no command's output reaches this judge
    artifact_type: str
    reply_example: str
    asks_about_contract: bool = False
    template: str | None = None
    criteria: tuple[Criterion, ...] = ()
    task: str | None = None
    task_type: str | None = None
    background: str | None = None
    output_contract: str | None = None
    search_space: str | None = None
    sources: tuple[ShownSource, ...] = ()
    calibration: Excerpt | None = None
    calibration_scores: tuple[NamedScore, ...] = ()
    seed: Excerpt | None = None
    seed_scores: tuple[NamedScore, ...] = ()
    round_label: str | None = None
    previous_asi: str | None = None
    history: tuple[HistoryLine, ...] = ()
    panel_summary: PanelSummary | None = None
    exploration: Exploration | None = None
    evaluator: EvaluatorOutput | None = None
    metrics: tuple[NamedMetric, ...] = ()
    contract_violation: str | None = None
    candidate: Excerpt | None = None
    lens: Lens | None = None  # the seat on a board; None for a single judge
    seen: tuple[Information, ...] = ()
    withheld: tuple[Information, ...] = ()


@dataclass(frozen=True, slots=True)
class FeedbackView:
    """The feedback for the producer: the judge's words, failed checks and notes."""

    style: FeedbackStyle
    issues: tuple[str, ...] = ()
    asi: str = ""
    failures: tuple[CheckResult, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class ProducerView:
    """What the producer may see in one step. None or empty values are withheld or do not exist."""

    profile: str
    nonce: str
    artifact_type: str
    problem_class: ProblemClass
    drafting: bool
    appends_feedback: bool  # feedback is added after the unchanged original prompt
    templates: Mapping[str, str]
    task: str | None = None
    background: str | None = None
    output_contract: str | None = None
    criteria: tuple[Criterion, ...] = ()
    search_space: str | None = None
    sources: tuple[ShownSource, ...] = ()
    candidate: str | None = None
    feedback: FeedbackView | None = None
    panel_summary: PanelSummary | None = None
    exploration: Exploration | None = None
    instructions: tuple[Instruction, ...] = ()  # from people; no rule withholds them
    validation: EvaluatorOutput | None = None  # for a repair only; no rule withholds it
    seen: tuple[Information, ...] = ()
    withheld: tuple[Information, ...] = ()


class Gate:
    """Passes on what the rules allow one role to see, and records it."""

    def __init__(self, rubric: Rubric, role: Role) -> None:
        self.allowed = permitted(rubric, role)
        self._passed: set[Information] = set()

    def let(self, kind: Information, value: Value | None) -> Value | None:
        """The value if the role may see this kind and the value is not empty, otherwise None."""
        if kind not in self.allowed or not value:
            return None
        self._passed.add(kind)
        return value

    @property
    def seen(self) -> tuple[Information, ...]:
        """The kinds that were passed on, in display order."""
        return tuple(kind for kind in KINDS if kind in self._passed)

    @property
    def withheld(self) -> tuple[Information, ...]:
        """The kinds that this role may not see, whether or not they have a value."""
        return tuple(kind for kind in KINDS if kind not in self.allowed)


def permitted(rubric: Rubric, role: Role) -> frozenset[Information]:
    """What a role may see under the rubric's rules."""
    return rubric.context.allowed(role) & OFFERED[role]


def judge_view(
    brief: Brief,
    history: History,
    round_number: int,
    evaluator: EvaluatorOutput | None = None,
    *,
    contract_violation: str = "",
    lens: PanelJudge | None = None,
) -> JudgeView:
    """Everything the judge of this round may see.

    `contract_violation` is why code found that the candidate violates the output contract. `lens` is the
    judge's seat on a board.
    """
    rubric, gate = brief.rubric, Gate(brief.rubric, Role.JUDGE)
    candidate = _round(history, round_number).candidate
    seed, seed_scores = _first_version(brief, history, round_number)
    example, example_scores = _calibration(brief)
    # Metrics are read from the evaluator's output, so the same rule withholds both.
    measured = Information.EVALUATOR_OUTPUT in gate.allowed
    past = condensed(rubric, history, round_number, measured=measured)
    # The comparison with the round before is part of the history.
    before = assessment_of(history, round_number - 1) if Information.HISTORY in gate.allowed else None
    measures = named_metrics(rubric, evaluator, before)
    limit = rubric.policy.judge_limit_chars
    return JudgeView(
        profile=rubric.profile,
        nonce=brief.nonce,
        scale=rubric.scale,
        problem_class=rubric.problem_class,
        evaluation_mode=_evaluation_mode(rubric, gate),
        artifact_type=rubric.artifact_type,
        reply_example=example_reply(rubric),
        asks_about_contract=asks_about_contract(rubric),
        template=rubric.templates.get("judge"),
        criteria=gate.let(Information.CRITERIA, rubric.criteria) or (),
        task=gate.let(Information.TASK, brief.task),
        task_type=gate.let(Information.TASK, brief.task_type),
        background=gate.let(Information.BACKGROUND, rubric.background),
        output_contract=gate.let(Information.OUTPUT_CONTRACT, rubric.output_contract),
        search_space=gate.let(Information.SEARCH_SPACE, rubric.search_space),
        sources=gate.let(Information.SOURCES, _sources(brief)) or (),
        calibration=gate.let(Information.CALIBRATION, excerpt(example, limit) if example else None),
        calibration_scores=gate.let(Information.CALIBRATION_SCORES, example_scores) or (),
        seed=gate.let(Information.SEED, excerpt(seed, limit) if seed else None),
        seed_scores=gate.let(Information.SEED_SCORES, seed_scores) or (),
        round_label=gate.let(Information.ROUND_NUMBER, _round_label(rubric, history, round_number)),
        previous_asi=gate.let(Information.PREVIOUS_ASI, asi_of(assessment_of(history, round_number - 1))),
        history=gate.let(Information.HISTORY, past) or (),
        panel_summary=gate.let(Information.PANEL_SUMMARY, learned(rubric, history, round_number)),
        exploration=gate.let(Information.SEARCH_SPACE, explored(rubric, history, round_number)),
        evaluator=gate.let(Information.EVALUATOR_OUTPUT, _bounded(evaluator)),
        metrics=gate.let(Information.EVALUATOR_OUTPUT, measures) or (),
        contract_violation=gate.let(Information.OUTPUT_CONTRACT, contract_violation),
        candidate=gate.let(Information.CANDIDATE, excerpt(candidate, limit)),
        lens=lens_of(lens),
        seen=gate.seen,
        withheld=gate.withheld,
    )


def producer_view(brief: Brief, history: History, step: Draft | Revise) -> ProducerView:
    """Everything the producer may see in this step. It contains no score fields and no other candidates."""
    rubric, gate = brief.rubric, Gate(brief.rubric, Role.PRODUCER)
    drafting = isinstance(step, Draft)
    feedback = _feedback_view(step.feedback) if isinstance(step, Revise) else None
    return ProducerView(
        profile=rubric.profile,
        nonce=brief.nonce,
        artifact_type=rubric.artifact_type,
        problem_class=rubric.problem_class,
        drafting=drafting,
        appends_feedback=rubric.policy.next_base is NextBase.ORIGINAL,
        templates={name: rubric.templates[name] for name in PRODUCER_TEMPLATES if name in rubric.templates},
        task=gate.let(Information.TASK, brief.task),
        background=gate.let(Information.BACKGROUND, rubric.background),
        output_contract=gate.let(Information.OUTPUT_CONTRACT, rubric.output_contract),
        criteria=gate.let(Information.CRITERIA, rubric.criteria) or (),
        search_space=gate.let(Information.SEARCH_SPACE, rubric.search_space),
        sources=gate.let(Information.SOURCES, _sources(brief)) or (),
        candidate=gate.let(Information.CANDIDATE, _base(brief, history, step)),
        feedback=gate.let(Information.FEEDBACK, feedback),
        panel_summary=None if drafting else gate.let(Information.PANEL_SUMMARY, learned(rubric, history)),
        exploration=None if drafting else gate.let(Information.SEARCH_SPACE, explored(rubric, history)),
        instructions=step.feedback.instructions if isinstance(step, Revise) else (),
        seen=gate.seen,
        withheld=gate.withheld,
    )


def repair_view(brief: Brief, history: History, step: Repair, validation: EvaluatorOutput) -> ProducerView:
    """What the producer sees to repair a candidate: what a draft sees, the candidate, and why it failed.

    The validation command's output is the only output of a command that a producer ever sees.
    """
    gate = Gate(brief.rubric, Role.PRODUCER)
    candidate = gate.let(Information.CANDIDATE, _round(history, step.round).candidate)
    view = producer_view(brief, history, Draft())
    seen = tuple(kind for kind in KINDS if kind in view.seen or kind in gate.seen)
    return replace(view, drafting=False, candidate=candidate, validation=_bounded(validation), seen=seen)


def _sources(brief: Brief) -> tuple[ShownSource, ...]:
    return shown_sources(brief.sources, brief.rubric.policy.source_limit_chars)


def _round(history: History, number: int) -> Round:
    for entry in history.rounds:
        if entry.number == number:
            return entry
    raise LookupError(f"the history has no round {number}")


def _base(brief: Brief, history: History, step: Draft | Revise) -> str:
    """The text that the producer starts from, or the seed if the step starts from the original task."""
    if isinstance(step, Draft):
        return ""
    return brief.seed if step.base_round is None else _round(history, step.base_round).candidate


def _first_version(brief: Brief, history: History, round_number: int) -> tuple[str, tuple[NamedScore, ...]]:
    """Round 1 and the scores that counted for it, which are those in the history. Used from round 2 on."""
    if round_number < 2:
        return "", ()
    first = _round(history, 1)
    scores = first.assessment.scores if first.assessment else {}
    return first.candidate, named_scores(brief.rubric, scores)


def _calibration(brief: Brief) -> tuple[str, tuple[NamedScore, ...]]:
    """The rubric's calibration example and its scores, if it has one. The same in every round."""
    if brief.calibration is None:
        return "", ()
    return brief.calibration.text, named_scores(brief.rubric, brief.calibration.scores)


def _evaluation_mode(rubric: Rubric, gate: Gate) -> EvaluationMode:
    """How this judge uses a command's output. Judge-only if none runs or the rules withhold it."""
    evidence = rubric.runs_a_command and Information.EVALUATOR_OUTPUT in gate.allowed
    return rubric.evaluation_mode if evidence else EvaluationMode.JUDGE_ONLY


def _round_label(rubric: Rubric, history: History, number: int) -> str:
    last = round_limit(rubric, history)
    return f"{round_name(number)} (the last is {last})"


def _bounded(evaluator: EvaluatorOutput | None) -> EvaluatorOutput | None:
    if evaluator is None:
        return None
    return replace(
        evaluator,
        stdout=excerpt(evaluator.stdout, EVALUATOR_CHARS).text,
        stderr=excerpt(evaluator.stderr, EVALUATOR_CHARS).text,
    )


def _feedback_view(feedback: Feedback) -> FeedbackView:
    """The unchanged feedback. The prompt asks the judge to leave scores out of it."""
    return FeedbackView(
        style=feedback.style,
        issues=feedback.issues,
        asi=feedback.asi,
        failures=feedback.failures,
        note=feedback.note,
    )
