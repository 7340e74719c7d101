"""Results of judging a round: verdicts, check results, evaluator output and the assessment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from statistics import median

from refinement.engine.kinds import Severity, Stance
from refinement.engine.numbers import exact
from refinement.engine.rubrics import ONE


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
class CriterionStance:
    """What a judge says about one of its scores in the deliberation, and the score it keeps or changes to."""

    key: str
    stance: Stance
    score: Decimal
    reasoning: str = ""

    def __post_init__(self) -> None:
        exact(self.score)


@dataclass(frozen=True, slots=True)
class BoardVerdict:
    """One judge's answers on a board: its own verdict, and what it says after reading the others."""

    seat: int  # in the panel, from 1
    verdict: Verdict | None  # None if its reply could not be read
    problem: str = ""  # why it could not be read
    stances: tuple[CriterionStance, ...] | None = None  # None before the deliberation


@dataclass(frozen=True, slots=True)
class PanelSummary:
    """What a board says about the work so far: what to keep, what not to retry, where to go."""

    working: tuple[str, ...] = ()
    not_working: tuple[str, ...] = ()
    direction: str = ""


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
    score: Decimal | None = None  # 0 to 1, from checks that measure; None: 1 if it passed, else 0
    expected: str = ""  # what the check asks for, and what it found instead
    actual: str = ""

    @property
    def share(self) -> Decimal:
        """What the check contributes to the composite, 0 to 1."""
        return Decimal(self.passed) if self.score is None else self.score


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
