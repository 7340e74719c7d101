"""What a rubric says: scale, criteria, checks, policy and who sees what, each valid in itself."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from refinement.engine.kinds import (
    STOP_RULES,
    Composite,
    EvaluationMode,
    FeedbackStyle,
    Handover,
    Information,
    NextBase,
    ProblemClass,
    Role,
    Severity,
    StopReason,
)
from refinement.engine.numbers import exact

LONGEST_EVALUATION = 240  # seconds: a step, in which a model is asked as well, has eleven minutes
FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
ZERO = Decimal(0)
ONE = Decimal(1)


@dataclass(frozen=True, slots=True)
class Scale:
    """The values a score may take; `step` None admits any decimal in the range."""

    minimum: Decimal
    maximum: Decimal
    step: Decimal | None = None

    def __post_init__(self) -> None:
        if exact(self.minimum) >= exact(self.maximum):
            raise ValueError("a scale's minimum must lie below its maximum")
        if self.step is not None and exact(self.step) <= ZERO:
            raise ValueError("a scale's step must be positive")

    def admits(self, value: Decimal) -> bool:
        """Whether the value is in range and on the scale's step."""
        if not self.minimum <= exact(value) <= self.maximum:
            return False
        return self.step is None or (value - self.minimum) % self.step == ZERO

    def normalised(self, value: Decimal) -> Decimal:
        """The value as a share of the scale, 0 to 1."""
        return (exact(value) - self.minimum) / (self.maximum - self.minimum)

    def spread(self, share: Decimal) -> Decimal:
        """The scale's value at a share of 0 to 1: the inverse of `normalised`."""
        return self.minimum + exact(share) * (self.maximum - self.minimum)


@dataclass(frozen=True, slots=True)
class Criterion:
    """What the judge scores; its place in the rubric is its order."""

    key: str
    name: str
    description: str = ""
    ideal: str = ""  # what the top of the scale looks like
    weight: Decimal = ONE
    primary: bool = False

    def __post_init__(self) -> None:
        if not self.key:
            raise ValueError("a criterion needs a key")
        if exact(self.weight) <= ZERO:
            raise ValueError(f"the weight of criterion {self.key!r} must be positive")


@dataclass(frozen=True, slots=True)
class Check:
    """A deterministic assertion on the candidate; judging/checks.py carries it out."""

    key: str
    kind: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    severity: Severity = Severity.ERROR
    weight: Decimal = ONE
    suggestion: str = ""

    def __post_init__(self) -> None:
        if not self.key:
            raise ValueError("a check needs a key")
        if exact(self.weight) <= ZERO:
            raise ValueError(f"the weight of check {self.key!r} must be positive")


@dataclass(frozen=True, slots=True)
class Penalties:
    """Points docked for invented API names, before aggregation."""

    criterion: str | None = None
    points: Decimal = ONE
    cap: Decimal = Decimal(2)
    allowed_objects: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if exact(self.points) < ZERO or exact(self.cap) < ZERO:
            raise ValueError("penalty points and their cap must not be negative")


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a run as a whole; None is unlimited."""

    tokens: int | None = None
    seconds: Decimal | None = None
    calls: int | None = None

    def __post_init__(self) -> None:
        for name, limit in (("tokens", self.tokens), ("seconds", self.seconds), ("calls", self.calls)):
            if limit is not None and exact(limit) <= ZERO:
                raise ValueError(f"a budget of {name} must be positive")


@dataclass(frozen=True, slots=True)
class Evaluator:
    """The command whose output is evidence for the judge: its parts, without a shell around them."""

    command: tuple[str, ...] = ()
    handover: Handover = Handover.FILE
    file_name: str = "candidate.txt"
    timeout: int = 60  # seconds

    def __post_init__(self) -> None:
        if not 1 <= self.timeout <= LONGEST_EVALUATION:
            raise ValueError(f"an evaluator's time must be between 1 and {LONGEST_EVALUATION} seconds")
        if not FILE_NAME.fullmatch(self.file_name):
            raise ValueError("the evaluator's file needs a plain name, such as candidate.py")

    @property
    def names_file(self) -> bool:
        """Whether the command says where the candidate's file goes."""
        return any("{file}" in part for part in self.command)


@dataclass(frozen=True, slots=True)
class ContextRules:
    """Who sees what: for each role, the kinds of information its prompts may carry."""

    judge: frozenset[Information]
    producer: frozenset[Information]
    reflect: frozenset[Information] = frozenset()

    def allowed(self, role: Role) -> frozenset[Information]:
        return {Role.JUDGE: self.judge, Role.PRODUCER: self.producer, Role.REFLECT: self.reflect}[role]


@dataclass(frozen=True, slots=True)
class Policy:
    """How the loop runs. A profile is one of these as data; any field can be changed."""

    max_rounds: int
    stop_rules: tuple[StopReason, ...]
    composite: Composite
    next_base: NextBase
    feedback: FeedbackStyle
    pass_threshold: Decimal | None = None
    perfect_score: Decimal | None = None
    minimum_gain: Decimal | None = None
    plateau_rounds: int = 4
    plateau_window: int = 3
    checks_in_composite: bool = False
    primary_first: bool = False
    penalties: Penalties = Penalties()
    budget: Budget = Budget()
    judge_limit_chars: int = 24_000
    producer_tokens: int = 4_096  # the longest reply asked of the producer
    producer_temperature: Decimal = Decimal("0.7")
    first_number: int = 1  # the number people see for the first round: Simmer counts from 0
    round_word: str = "round"
    composite_decimals: int = 2

    def __post_init__(self) -> None:
        if self.max_rounds < 1:
            raise ValueError("a run needs at least one round")
        unknown = [rule for rule in self.stop_rules if rule not in STOP_RULES]
        if unknown:
            raise ValueError(f"{unknown[0]!s} is not a rule that can stop a run")
        if not 1 <= self.plateau_window < self.plateau_rounds:
            raise ValueError("a plateau's window must be at least 1 and smaller than its rounds")
        if self.judge_limit_chars < 1:
            raise ValueError("the judge must see at least one character")
        if self.producer_tokens < 1:
            raise ValueError("the producer must be allowed at least one token")
        if not ZERO <= exact(self.producer_temperature) <= 2:
            raise ValueError("the producer's temperature must lie between 0 and 2")
        for number in (self.pass_threshold, self.perfect_score, self.minimum_gain):
            if number is not None:
                exact(number)


@dataclass(frozen=True, slots=True)
class Rubric:
    """What a version of a rubric says, as far as a run needs it."""

    name: str
    profile: str
    scale: Scale
    policy: Policy
    context: ContextRules
    criteria: tuple[Criterion, ...] = ()
    checks: tuple[Check, ...] = ()
    problem_class: ProblemClass = ProblemClass.TEXT
    evaluation_mode: EvaluationMode = EvaluationMode.JUDGE_ONLY
    evaluator: Evaluator = Evaluator()
    purpose: str = ""
    artifact_type: str = ""
    background: str = ""
    output_contract: str = ""
    search_space: str = ""
    templates: Mapping[str, str] = field(default_factory=dict)  # an editor's own, by name
    seed_text: str = ""  # a text with known scores: the judge's anchor from round 2 on
    seed_scores: Mapping[str, Decimal] = field(default_factory=dict)

    @property
    def runs_a_command(self) -> bool:
        """Whether a round's candidate is given to the evaluator's command before it is judged."""
        return bool(self.evaluator.command) and self.evaluation_mode is not EvaluationMode.JUDGE_ONLY

    def __post_init__(self) -> None:
        if not self.criteria and not self.checks:
            raise ValueError("a rubric needs at least one criterion or one check")
        for what, keys in (
            ("criterion", [criterion.key for criterion in self.criteria]),
            ("check", [check.key for check in self.checks]),
        ):
            if len(keys) != len(set(keys)):
                raise ValueError(f"two entries share one {what} key")
        if sum(criterion.primary for criterion in self.criteria) > 1:
            raise ValueError("only one criterion can be primary")
        if not self.criteria and not self.policy.checks_in_composite:
            raise ValueError("a rubric without criteria must let its checks into the composite")
        for name in ("pass_threshold", "perfect_score"):
            limit = getattr(self.policy, name)
            if limit is not None and not self.scale.minimum <= limit <= self.scale.maximum:
                raise ValueError(f"{name} lies outside the scale")
        docked = self.policy.penalties.criterion
        if docked is not None and docked not in {criterion.key for criterion in self.criteria}:
            raise ValueError(f"penalties dock {docked!r}, which is not a criterion")
        _refuse_odd_seed(self)


def _refuse_odd_seed(rubric: Rubric) -> None:
    """A seed has a text and scores of the rubric's own criteria, or is not there at all."""
    if bool(rubric.seed_text) != bool(rubric.seed_scores):
        raise ValueError("a seed needs both its text and at least one score")
    keys = {criterion.key for criterion in rubric.criteria}
    for key, score in rubric.seed_scores.items():
        if key not in keys:
            raise ValueError(f"the seed has a score for {key!r}, which is not a criterion")
        if not rubric.scale.admits(score):
            raise ValueError(f"the seed's score for {key!r} is not on the scale")
