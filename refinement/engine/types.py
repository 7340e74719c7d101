"""Immutable data types of the engine."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from statistics import median
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
    Metric,
    Penalties,
    Policy,
    Rubric,
    Scale,
)

__all__ = [
    "ONE", "STOP_RULES", "ZERO", "Assessment", "Budget", "Check", "CheckResult", "Composite",
    "ContextRules", "Criterion", "CriterionScore", "Draft", "EvaluationMode", "Evaluator",
    "EvaluatorOutput", "Failure", "Feedback", "FeedbackStyle", "Finish", "Handover", "History",
    "Information", "Instruction", "Judge", "Metric", "MetricValue", "NextBase", "Outcome", "Penalties",
    "Penalty", "Place", "Policy", "ProblemClass", "Repair", "Revise", "Role", "Round", "Rubric", "Scale",
    "Severity", "Step", "StopReason", "Usage", "Verdict",
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
    """One judge's scores and feedback for one candidate, before penalties."""

    scores: tuple[CriterionScore, ...]
    issues: tuple[str, ...] = ()
    asi: str = ""
    judge: str = ""
    contract_violation: str = ""  # why the judge says that a contract in prose is violated


@dataclass(frozen=True, slots=True)
class Place:
    """A span of characters in the candidate."""

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
    """Points deducted from a criterion, and the invented names that caused it."""

    criterion: str
    points: Decimal
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MetricValue:
    """A metric of one round: the number that each run of the evaluator gave, in order.

    A run in which the number was not found gives none, so there may be fewer than `Evaluator.repeat`.
    """

    values: tuple[Decimal, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError("a metric that was not found has no value")
        for value in self.values:
            exact(value)

    @property
    def value(self) -> Decimal:
        """The number that counts: the median."""
        return median(self.values)

    @property
    def low(self) -> Decimal:
        return min(self.values)

    @property
    def high(self) -> Decimal:
        return max(self.values)


@dataclass(frozen=True, slots=True)
class EvaluatorOutput:
    """The output of an evaluator command. It is evidence for the judge, never a score."""

    stdout: str
    stderr: str = ""
    exit_code: int | None = 0  # None if the command was stopped
    stopped: str = ""  # why it was stopped
    failure: str = ""  # why it is a complete failure; see evaluating.py
    metrics: Mapping[str, MetricValue] = field(default_factory=dict)  # by name; those that were found
    runs: int = 1  # of the command; the output is that of one of them
    failed_runs: int = 0  # of several; those that failed completely


@dataclass(frozen=True, slots=True)
class Assessment:
    """The result of judging a round: scores after penalties, and their composite."""

    composite: Decimal
    scores: Mapping[str, Decimal]
    verdicts: tuple[Verdict, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    penalties: tuple[Penalty, ...] = ()
    evaluator: EvaluatorOutput | None = None
    contract_violation: str = ""  # why the candidate violates the output contract

    def __post_init__(self) -> None:
        exact(self.composite)
        for score in self.scores.values():
            exact(score)

    @property
    def failed_checks(self) -> tuple[CheckResult, ...]:
        return tuple(result for result in self.checks if not result.passed)

    @property
    def blocking(self) -> tuple[CheckResult, ...]:
        """The failed checks that keep the round from passing, whatever its score."""
        return tuple(result for result in self.failed_checks if result.severity is Severity.ERROR)

    @property
    def metrics(self) -> Mapping[str, MetricValue]:
        """The metrics that were found in the evaluator's output, by name."""
        return self.evaluator.metrics if self.evaluator else {}


@dataclass(frozen=True, slots=True)
class Round:
    """One candidate and its assessment; None if it is not judged yet."""

    number: int  # from 1; the displayed number may differ
    candidate: str
    assessment: Assessment | None = None
    base_round: int | None = None
    by_hand: bool = False  # a person edited the candidate of `base_round`
    invalid: bool = False  # the evaluator's validation command failed on the candidate
    repaired: bool = False  # the producer has repaired the candidate after that


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run has cost so far."""

    tokens: int = 0
    seconds: Decimal = ZERO
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """A step that failed after all retries. It ends the run in ERROR, never with a score."""

    role: Role
    message: str


@dataclass(frozen=True, slots=True)
class Instruction:
    """A person's instruction for the next revision. It takes precedence over the judge."""

    number: int
    author: str
    text: str


@dataclass(frozen=True, slots=True)
class History:
    """Everything that has happened in a run, in order."""

    rounds: tuple[Round, ...] = ()
    usage: Usage = Usage()
    failure: Failure | None = None
    extended_after: int = 0  # the last round when more rounds were added
    instructions: tuple[Instruction, ...] = ()  # not yet used by a revision

    @property
    def assessed(self) -> tuple[Round, ...]:
        return tuple(entry for entry in self.rounds if entry.assessment is not None)

    @property
    def compared(self) -> tuple[Round, ...]:
        """The judged rounds that stop rules consider: all, or those since rounds were added."""
        return tuple(entry for entry in self.assessed if entry.number >= self.extended_after)

    @property
    def window(self) -> tuple[Assessment, ...]:
        """The assessments that stop rules consider."""
        return tuple(entry.assessment for entry in self.compared if entry.assessment is not None)


@dataclass(frozen=True, slots=True)
class Feedback:
    """Feedback for the producer from judge, checks and people. It contains no scores."""

    style: FeedbackStyle
    from_round: int
    issues: tuple[str, ...] = ()
    asi: str = ""
    failures: tuple[CheckResult, ...] = ()
    note: str = ""
    instructions: tuple[Instruction, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """The producer writes the first candidate."""

    round: int = 1


@dataclass(frozen=True, slots=True)
class Judge:
    """Checks and judge assess this round's candidate."""

    round: int


@dataclass(frozen=True, slots=True)
class Revise:
    """The producer writes the next candidate from `base_round`, or from the original task."""

    round: int
    base_round: int | None
    feedback: Feedback


@dataclass(frozen=True, slots=True)
class Repair:
    """The producer repairs this round's candidate, on which the validation command failed."""

    round: int


@dataclass(frozen=True, slots=True)
class Finish:
    """End the run."""

    outcome: Outcome
    reason: StopReason
    why: str
    best_round: int | None
    passed_in_round: int | None = None


Step: TypeAlias = Draft | Judge | Repair | Revise | Finish
