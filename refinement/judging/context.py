"""Decides what each role may see, from the run's brief, its history and the rubric's context rules.

A prompt is built only from a view, so information withheld by a rule cannot reach it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from typing import TypeVar

from refinement.engine.sentences import round_name
from refinement.engine.types import (
    Assessment,
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
    ProblemClass,
    Revise,
    Role,
    Round,
    Rubric,
    Scale,
)
from refinement.judging.length import Excerpt, excerpt, shorten
from refinement.judging.schema import example_reply, plain

Value = TypeVar("Value")

PRODUCER_TEMPLATES = ("draft", "revision", "feedback")
KEY_CHANGE_CHARS = 59
KINDS = tuple(Information)
EDITED = "edited by a person"
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
            Information.EVALUATOR_OUTPUT,
            Information.PREVIOUS_ASI,
            Information.HISTORY,
            Information.SEARCH_SPACE,
            Information.EXPLORATION,
        }
    ),
    Role.PRODUCER: frozenset(
        {
            Information.TASK,
            Information.CRITERIA,
            Information.CANDIDATE,
            Information.BACKGROUND,
            Information.OUTPUT_CONTRACT,
            Information.FEEDBACK,
            Information.SEARCH_SPACE,
            Information.EXPLORATION,
        }
    ),
    Role.REFLECT: frozenset({Information.SCORES, Information.VERDICTS, Information.PRODUCER_REPORT}),
}


@dataclass(frozen=True, slots=True)
class Calibration:
    """A text with known scores that replaces round 1 as the judge's reference."""

    text: str
    scores: Mapping[str, Decimal]


@dataclass(frozen=True, slots=True)
class Brief:
    """Everything known at the start of a run. `seed` is empty if the producer writes the first draft."""

    task: str
    rubric: Rubric
    nonce: str
    seed: str = ""
    calibration: Calibration | None = None
    exploration: str = ""


@dataclass(frozen=True, slots=True)
class NamedScore:
    name: str
    score: Decimal


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """A summary of a past round, without its text."""

    label: str
    composite: Decimal
    scores: tuple[NamedScore, ...]
    key_change: str


@dataclass(frozen=True, slots=True)
class JudgeView:
    """What a judge may see in one round. None or empty values are withheld or do not exist."""

    profile: str
    nonce: str
    scale: Scale
    problem_class: ProblemClass
    evaluation_mode: EvaluationMode
    artifact_type: str
    reply_example: str
    template: str | None = None
    criteria: tuple[Criterion, ...] = ()
    task: str | None = None
    background: str | None = None
    output_contract: str | None = None
    search_space: str | None = None
    seed: Excerpt | None = None
    seed_scores: tuple[NamedScore, ...] = ()
    exploration: str | None = None
    round_label: str | None = None
    previous_asi: str | None = None
    history: tuple[HistoryLine, ...] = ()
    evaluator: EvaluatorOutput | None = None
    candidate: Excerpt | None = None
    seen: tuple[Information, ...] = ()
    withheld: tuple[Information, ...] = ()


@dataclass(frozen=True, slots=True)
class FeedbackView:
    """The feedback for the producer, without scores."""

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
    exploration: str | None = None
    candidate: str | None = None
    feedback: FeedbackView | None = None
    instructions: tuple[Instruction, ...] = ()  # from people; no rule withholds them
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
    brief: Brief, history: History, round_number: int, evaluator: EvaluatorOutput | None = None
) -> JudgeView:
    """Everything the judge of this round may see."""
    rubric, gate = brief.rubric, Gate(brief.rubric, Role.JUDGE)
    candidate = _round(history, round_number).candidate
    seed, seed_scores = _anchor(brief, history, round_number)
    limit = rubric.policy.judge_limit_chars
    return JudgeView(
        profile=rubric.profile,
        nonce=brief.nonce,
        scale=rubric.scale,
        problem_class=rubric.problem_class,
        evaluation_mode=rubric.evaluation_mode,
        artifact_type=rubric.artifact_type,
        reply_example=example_reply(rubric),
        template=rubric.templates.get("judge"),
        criteria=gate.let(Information.CRITERIA, rubric.criteria) or (),
        task=gate.let(Information.TASK, brief.task),
        background=gate.let(Information.BACKGROUND, rubric.background),
        output_contract=gate.let(Information.OUTPUT_CONTRACT, rubric.output_contract),
        search_space=gate.let(Information.SEARCH_SPACE, rubric.search_space),
        seed=gate.let(Information.SEED, excerpt(seed, limit) if seed else None),
        seed_scores=gate.let(Information.SEED_SCORES, seed_scores) or (),
        exploration=gate.let(Information.EXPLORATION, brief.exploration),
        round_label=gate.let(Information.ROUND_NUMBER, _round_label(rubric, round_number)),
        previous_asi=gate.let(Information.PREVIOUS_ASI, _asi_of(_assessment(history, round_number - 1))),
        history=gate.let(Information.HISTORY, _condensed(rubric, history, round_number)) or (),
        evaluator=gate.let(Information.EVALUATOR_OUTPUT, _bounded(evaluator)),
        candidate=gate.let(Information.CANDIDATE, excerpt(candidate, limit)),
        seen=gate.seen,
        withheld=gate.withheld,
    )


def producer_view(brief: Brief, history: History, step: Draft | Revise) -> ProducerView:
    """Everything the producer may see in this step. It contains no scores and no other candidates."""
    rubric, gate = brief.rubric, Gate(brief.rubric, Role.PRODUCER)
    drafting = isinstance(step, Draft)
    feedback = _without_scores(step.feedback, rubric.scale) if isinstance(step, Revise) else None
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
        exploration=gate.let(Information.EXPLORATION, brief.exploration),
        candidate=gate.let(Information.CANDIDATE, _base(brief, history, step)),
        feedback=gate.let(Information.FEEDBACK, feedback),
        instructions=step.feedback.instructions if isinstance(step, Revise) else (),
        seen=gate.seen,
        withheld=gate.withheld,
    )


def _round(history: History, number: int) -> Round:
    for entry in history.rounds:
        if entry.number == number:
            return entry
    raise LookupError(f"the history has no round {number}")


def _assessment(history: History, number: int) -> Assessment | None:
    return next((entry.assessment for entry in history.rounds if entry.number == number), None)


def _base(brief: Brief, history: History, step: Draft | Revise) -> str:
    """The text that the producer starts from, or the seed if the step starts from the original task."""
    if isinstance(step, Draft):
        return ""
    return brief.seed if step.base_round is None else _round(history, step.base_round).candidate


def _anchor(brief: Brief, history: History, round_number: int) -> tuple[str, tuple[NamedScore, ...]]:
    """The reference text and its scores: the calibration text, or round 1. Used from round 2 on."""
    if round_number < 2:
        return "", ()
    if brief.calibration is not None:
        return brief.calibration.text, _named(brief.rubric, brief.calibration.scores)
    first = _round(history, 1)
    return first.candidate, _named(brief.rubric, _judge_scores(first.assessment))


def _judge_scores(assessment: Assessment | None) -> Mapping[str, Decimal]:
    """The judge's scores before penalties, or the final scores if there is not exactly one verdict."""
    if assessment is None:
        return {}
    if len(assessment.verdicts) != 1:
        return assessment.scores
    return {entry.key: entry.score for entry in assessment.verdicts[0].scores}


def _named(rubric: Rubric, scores: Mapping[str, Decimal]) -> tuple[NamedScore, ...]:
    """The scores in the rubric's order. They use keys, because criteria names may be withheld."""
    keys = (criterion.key for criterion in rubric.criteria)
    return tuple(NamedScore(key, scores[key]) for key in keys if key in scores)


def _condensed(rubric: Rubric, history: History, before: int) -> tuple[HistoryLine, ...]:
    return tuple(
        HistoryLine(
            label=round_name(rubric, entry.number),
            composite=round(entry.assessment.composite, rubric.policy.composite_decimals),
            scores=_named(rubric, entry.assessment.scores),
            key_change=EDITED if entry.by_hand else _key_change(_assessment(history, entry.number - 1)),
        )
        for entry in history.rounds
        if entry.number < before and entry.assessment is not None
    )


def _key_change(driver: Assessment | None) -> str:
    """What the round was meant to change: the feedback on the round before it."""
    if driver is None:
        return "first version"
    issues = (issue for verdict in driver.verdicts for issue in verdict.issues)
    failures = (result.message for result in driver.checks if not result.passed)
    direction = _asi_of(driver) or next(issues, "") or next(failures, "") or "not stated"
    return shorten(direction, KEY_CHANGE_CHARS)


def _asi_of(assessment: Assessment | None) -> str:
    verdicts = assessment.verdicts if assessment else ()
    return next((verdict.asi for verdict in verdicts if verdict.asi), "")


def _round_label(rubric: Rubric, number: int) -> str:
    last = rubric.policy.max_rounds - 1 + rubric.policy.first_number
    return f"{round_name(rubric, number)} (the last is {last})"


def _bounded(evaluator: EvaluatorOutput | None) -> EvaluatorOutput | None:
    if evaluator is None:
        return None
    return replace(
        evaluator,
        stdout=excerpt(evaluator.stdout, EVALUATOR_CHARS).text,
        stderr=excerpt(evaluator.stderr, EVALUATOR_CHARS).text,
    )


def _without_scores(feedback: Feedback, scale: Scale) -> FeedbackView:
    """The feedback with all scores removed from its texts."""

    def clean(text: str) -> str:
        return _stated_score(scale).sub("[score withheld]", text)

    return FeedbackView(
        style=feedback.style,
        issues=tuple(clean(issue) for issue in feedback.issues),
        asi=clean(feedback.asi),
        failures=feedback.failures,
        note=clean(feedback.note),
    )


@lru_cache(maxsize=16)
def _stated_score(scale: Scale) -> re.Pattern[str]:
    """Matches scores in text, such as 7/10, 6.5 out of 10, or "a score of 7"."""
    number, top = r"[-+]?\d+(?:[.,]\d+)?", re.escape(plain(scale.maximum))
    of_top = rf"(?<![\w./]){number}\s*(?:/|out of)\s*{top}(?![\w/]|[.,]\d)"
    named = rf"\b(?:scor(?:e|es|ed|ing)|rat(?:ed|ing))\s*(?:of|is|was|at|as|:|=)?\s*{number}(?!\w|[.,]?\d)"
    return re.compile(f"{of_top}|{named}", re.IGNORECASE)
