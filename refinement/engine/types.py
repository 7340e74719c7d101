"""The words of the engine: frozen, comparable, free of behaviour beyond their own validity."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from refinement.engine.kinds import (
    STOP_RULES,
    Composite,
    EvaluationMode,
    FeedbackStyle,
    Handover,
    Information,
    NextBase,
    Outcome,
    ProblemClass,
    Role,
    Severity,
    StopReason,
)
from refinement.engine.numbers import exact
from refinement.engine.rubrics import (
    ONE,
    ZERO,
    Budget,
    Check,
    ContextRules,
    Criterion,
    Evaluator,
    Penalties,
    Policy,
    Rubric,
    Scale,
)

__all__ = [
    "ONE", "STOP_RULES", "ZERO", "Assessment", "Budget", "Check", "CheckResult", "Composite",
    "ContextRules", "Criterion", "CriterionScore", "Draft", "EvaluationMode", "Evaluator",
    "EvaluatorOutput", "Failure", "Feedback", "FeedbackStyle", "Finish", "Handover", "History",
    "Information", "Instruction", "Judge", "NextBase", "Outcome", "Penalties", "Penalty", "Place",
    "Policy", "ProblemClass", "Revise", "Role", "Round", "Rubric", "Scale", "Severity", "Step",
    "StopReason", "Usage", "Verdict",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class CriterionScore:
    key: str
    score: Decimal
    reasoning: str = ""
    improvement: str = ""

    def __post_init__(self) -> None:
        exact(self.score)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One judge's reading of one candidate, as it was said: before penalties."""

    scores: tuple[CriterionScore, ...]
    issues: tuple[str, ...] = ()
    asi: str = ""
    judge: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the candidate something stands, counted in characters."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CheckResult:
    key: str
    passed: bool
    message: str = ""
    severity: Severity = Severity.ERROR
    weight: Decimal = ONE
    suggestion: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Penalty:
    """What was docked, from which criterion, and the names that led to it."""

    criterion: str
    points: Decimal
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EvaluatorOutput:
    """What a command said of the candidate: evidence for the judge, never a score."""

    stdout: str
    stderr: str = ""
    exit_code: int | None = 0  # None where it was stopped before its end
    stopped: str = ""  # why it was
    failure: str = ""  # what makes it a complete failure, in a sentence; see evaluating.py


@dataclass(frozen=True, slots=True)
class Assessment:
    """A round's reading as a whole: scores after penalties, and the composite made from them."""

    composite: Decimal
    scores: Mapping[str, Decimal]
    verdicts: tuple[Verdict, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    penalties: tuple[Penalty, ...] = ()
    evaluator: EvaluatorOutput | None = None

    def __post_init__(self) -> None:
        exact(self.composite)
        for score in self.scores.values():
            exact(score)


@dataclass(frozen=True, slots=True)
class Round:
    """Candidate n; `assessment` None means it waits for its judge."""

    number: int  # from 1, whatever people are shown
    candidate: str
    assessment: Assessment | None = None
    base_round: int | None = None
    by_hand: bool = False  # a person edited the candidate of `base_round`


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run has cost so far."""

    tokens: int = 0
    seconds: Decimal = ZERO
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """A step that was tried, retried and given up: it ends the run in ERROR, never in a score."""

    role: Role
    message: str


@dataclass(frozen=True, slots=True)
class Instruction:
    """What a person asks of the next revision; where it and the judge differ, the person is followed."""

    number: int
    author: str
    text: str


@dataclass(frozen=True, slots=True)
class History:
    """All that has happened in a run, in order."""

    rounds: tuple[Round, ...] = ()
    usage: Usage = Usage()
    failure: Failure | None = None
    extended_after: int = 0  # somebody asked for more rounds when this one was the last
    instructions: tuple[Instruction, ...] = ()  # those that no revision has had yet

    @property
    def assessed(self) -> tuple[Round, ...]:
        return tuple(entry for entry in self.rounds if entry.assessment is not None)

    @property
    def window(self) -> tuple[Assessment, ...]:
        """What the stop rules look at: all assessments, or those since more rounds were asked for."""
        return tuple(
            entry.assessment
            for entry in self.rounds
            if entry.assessment is not None and entry.number >= self.extended_after
        )


@dataclass(frozen=True, slots=True)
class Feedback:
    """What the producer is told about the round just judged, and by people; never a score of ours."""

    style: FeedbackStyle
    from_round: int
    issues: tuple[str, ...] = ()
    asi: str = ""
    failures: tuple[CheckResult, ...] = ()
    note: str = ""
    instructions: tuple[Instruction, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """Have the producer write the first candidate."""

    round: int = 1


@dataclass(frozen=True, slots=True)
class Judge:
    """Assess this round's candidate: checks, and the judge where there are criteria."""

    round: int


@dataclass(frozen=True, slots=True)
class Revise:
    """Have the producer write the next candidate, from `base_round` or from the original task."""

    round: int
    base_round: int | None
    feedback: Feedback


@dataclass(frozen=True, slots=True)
class Finish:
    """End the run."""

    outcome: Outcome
    reason: StopReason
    why: str
    best_round: int | None


Step: TypeAlias = Draft | Judge | Revise | Finish
