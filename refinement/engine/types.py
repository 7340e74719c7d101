"""Immutable data types of the engine."""

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
    JudgeMode,
    MinimumGain,
    NextBase,
    OnPlateau,
    Outcome,
    ProblemClass,
    Role,
    Severity,
    Stance,
    StopReason,
)
from refinement.engine.panels import Judges, PanelJudge
from refinement.engine.results import (
    Assessment,
    BoardVerdict,
    CheckResult,
    CriterionScore,
    CriterionStance,
    EvaluatorOutput,
    MetricValue,
    PanelSummary,
    Penalty,
    Place,
    Verdict,
)
from refinement.engine.rubrics import (
    ONE,
    ZERO,
    Budget,
    Check,
    ContextRules,
    Criterion,
    Evaluator,
    Gate,
    Metric,
    Penalties,
    Policy,
    Rubric,
    Scale,
)

__all__ = [
    "ONE", "STOP_RULES", "ZERO", "AskPlateau", "Assessment", "BoardStep", "BoardVerdict", "Budget", "Check",
    "CheckResult", "Compose", "Composite", "ContextRules", "Criterion", "CriterionScore",
    "CriterionStance", "Deliberate", "Describe", "Draft", "Escalate", "EvaluationMode", "Evaluator",
    "EvaluatorOutput", "Failure", "Feedback", "FeedbackStyle", "Finish", "Gate", "Handover", "History",
    "Information", "Instruction", "Judge", "JudgeMode", "Judges", "Merge", "Metric", "MetricValue",
    "MinimumGain", "NextBase", "OnPlateau", "Outcome", "PanelJudge", "PanelSummary", "Penalties", "Penalty",
    "Place", "Policy", "ProblemClass", "Repair", "Revise", "Role", "Round", "Rubric", "Scale", "Score",
    "Severity", "Stance", "Step", "StopReason", "Usage", "Verdict",
]  # fmt: skip


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
    board: tuple[BoardVerdict, ...] = ()  # the judges that have answered so far, by seat
    summary: PanelSummary | None = None  # the board's, once it is merged
    key_change: str | None = None  # by the clerk; None if not asked yet, empty if it gave up


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
    panel: tuple[PanelJudge, ...] = ()  # the run's board, once it is known
    escalated_after: int = 0  # the last round when a plateau was answered with two more rounds by a board
    plateau_accepted: bool = False  # a person was asked at the plateau and chose to stop
    # Between two composites of the judge that started the run; None if it is not known.
    smallest_difference: Decimal | None = None

    @property
    def assessed(self) -> tuple[Round, ...]:
        return tuple(entry for entry in self.rounds if entry.assessment is not None)

    @property
    def compared(self) -> tuple[Round, ...]:
        """The judged rounds that stop rules consider: all, or those since rounds were added.

        A board's scores are not compared with those of the single judge before it.
        """
        return tuple(
            entry
            for entry in self.assessed
            if entry.number >= self.extended_after and entry.number > self.escalated_after
        )

    @property
    def noise(self) -> Decimal | None:
        """The smallest real difference between the rounds that stop rules consider, if it is known.

        A board that took over is another judge.
        """
        return None if self.escalated_after else self.smallest_difference

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
class Compose:
    """The clerk composes the run's board for this round's candidate."""

    round: int


@dataclass(frozen=True, slots=True)
class Score:
    """The judges in these seats score the round's candidate, at the same time and each alone."""

    round: int
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Deliberate:
    """The judges in these seats read the others' scores and reasoning, and keep or change their own."""

    round: int
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Merge:
    """The board's scores become the round's, and the clerk distils one suggested change.

    With `describes`, the clerk also names what the round changed, at the same time.
    """

    round: int
    describes: bool = False


@dataclass(frozen=True, slots=True)
class Describe:
    """The clerk names what a judged round changed."""

    round: int


@dataclass(frozen=True, slots=True)
class Escalate:
    """A board takes over from the single judge, for two more rounds."""

    round: int


@dataclass(frozen=True, slots=True)
class AskPlateau:
    """A person decides whether the run stops on its plateau or continues."""

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


BoardStep: TypeAlias = Compose | Score | Deliberate | Merge
Step: TypeAlias = Draft | Judge | Repair | Revise | BoardStep | Describe | Escalate | AskPlateau | Finish
