"""The rubric and its parts: scale, criteria, checks, policy and context rules. All validate themselves."""

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
    MinimumGain,
    NextBase,
    OnPlateau,
    ProblemClass,
    Role,
    Severity,
    StopReason,
)
from refinement.engine.numbers import exact
from refinement.engine.panels import Judges

LONGEST_EVALUATION = 3_600  # seconds, for each run of the command
LONGEST_VALIDATION = 60
MOST_REPEATS = 20
FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
ZERO = Decimal(0)
ONE = Decimal(1)


@dataclass(frozen=True, slots=True)
class Scale:
    """The values a score may take. With `step` None, any decimal in the range is valid."""

    minimum: Decimal
    maximum: Decimal
    step: Decimal | None = None

    def __post_init__(self) -> None:
        if exact(self.minimum) >= exact(self.maximum):
            raise ValueError("a scale's minimum must be less than its maximum")
        if self.step is not None and exact(self.step) <= ZERO:
            raise ValueError("a scale's step must be positive")

    def admits(self, value: Decimal) -> bool:
        """Whether the value is in range and a multiple of the step."""
        if not self.minimum <= exact(value) <= self.maximum:
            return False
        return self.step is None or (value - self.minimum) % self.step == ZERO

    def normalised(self, value: Decimal) -> Decimal:
        """The value as a share of the scale, 0 to 1."""
        return (exact(value) - self.minimum) / (self.maximum - self.minimum)

    def spread(self, share: Decimal) -> Decimal:
        """The value at a share from 0 to 1: the inverse of `normalised`."""
        return self.minimum + exact(share) * (self.maximum - self.minimum)


@dataclass(frozen=True, slots=True)
class Criterion:
    """A quality that the judge scores."""

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
    """A deterministic assertion on the candidate, run by `judging.checks`."""

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
    """Points deducted from a criterion for invented API names."""

    criterion: str | None = None
    points: Decimal = ONE
    cap: Decimal = Decimal(2)
    allowed_objects: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if exact(self.points) < ZERO or exact(self.cap) < ZERO:
            raise ValueError("penalty points and their cap must not be negative")


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits for a whole run; None is unlimited."""

    tokens: int | None = None
    seconds: Decimal | None = None
    calls: int | None = None

    def __post_init__(self) -> None:
        for name, limit in (("tokens", self.tokens), ("seconds", self.seconds), ("calls", self.calls)):
            if limit is not None and exact(limit) <= ZERO:
                raise ValueError(f"the {name} budget must be positive")


@dataclass(frozen=True, slots=True)
class Metric:
    """A number in the evaluator's output, found by a pattern with one group or by a JSON pointer."""

    name: str
    pattern: str = ""
    pointer: str = ""
    lower_is_better: bool = False

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a metric needs a name")
        if bool(self.pattern) == bool(self.pointer):
            raise ValueError(f"the metric {self.name!r} needs either a pattern or a pointer")


@dataclass(frozen=True, slots=True)
class Evaluator:
    """The command whose output is evidence for the judge. It runs without a shell."""

    command: tuple[str, ...] = ()
    handover: Handover = Handover.FILE
    file_name: str = "candidate.txt"
    timeout: int = 60  # seconds
    repeat: int = 1  # runs of the command per round; their median counts
    failure_patterns: tuple[str, ...] = ()  # output that matches one of these is a complete failure
    metrics: tuple[Metric, ...] = ()  # the first one breaks ties between rounds
    validation: tuple[str, ...] = ()  # a cheap command that runs first

    def __post_init__(self) -> None:
        if not 1 <= self.repeat <= MOST_REPEATS:
            raise ValueError(f"an evaluator runs between 1 and {MOST_REPEATS} times")
        names = [metric.name for metric in self.metrics]
        if len(names) != len(set(names)):
            raise ValueError("duplicate metric name")
        if not 1 <= self.timeout <= LONGEST_EVALUATION:
            raise ValueError(f"an evaluator's timeout must be between 1 and {LONGEST_EVALUATION} seconds")
        if not FILE_NAME.fullmatch(self.file_name):
            raise ValueError("the evaluator's file name must be plain, such as candidate.py")

    @property
    def validation_timeout(self) -> int:
        """Seconds for the validation command, which is meant to be cheap."""
        return min(self.timeout, LONGEST_VALIDATION)

    @property
    def names_file(self) -> bool:
        """Whether the command contains the `{file}` placeholder."""
        return any("{file}" in part for part in self.command)


@dataclass(frozen=True, slots=True)
class Gate:
    """Criteria and checks whose weighted mean must reach a share of the scale for a round to pass."""

    keys: tuple[str, ...]
    threshold: Decimal = ONE  # 0 to 1

    def __post_init__(self) -> None:
        if not self.keys:
            raise ValueError("a gate needs at least one key")
        if not ZERO <= exact(self.threshold) <= ONE:
            raise ValueError("a gate's threshold must be between 0 and 1")


@dataclass(frozen=True, slots=True)
class ContextRules:
    """The kinds of information that each role's prompts may contain."""

    judge: frozenset[Information]
    producer: frozenset[Information]

    def allowed(self, role: Role) -> frozenset[Information]:
        return self.judge if role is Role.JUDGE else self.producer


@dataclass(frozen=True, slots=True)
class Policy:
    """How the loop runs."""

    max_rounds: int
    stop_rules: tuple[StopReason, ...]
    composite: Composite
    next_base: NextBase
    feedback: FeedbackStyle
    pass_threshold: Decimal | None = None
    perfect_score: Decimal | None = None
    minimum_gain: Decimal | MinimumGain | None = None
    plateau_rounds: int = 4
    plateau_window: int = 3
    on_plateau: OnPlateau = OnPlateau.STOP
    checks_in_composite: bool = False
    primary_first: bool = False
    penalties: Penalties = Penalties()
    budget: Budget = Budget()
    judge_limit_chars: int = 24_000
    source_limit_chars: int = 60_000  # of all sources together, in each prompt
    producer_tokens: int = 4_096  # limit for one reply
    producer_temperature: Decimal = Decimal("0.7")
    composite_decimals: int = 2

    def __post_init__(self) -> None:
        if self.max_rounds < 1:
            raise ValueError("a run needs at least one round")
        unknown = [rule for rule in self.stop_rules if rule not in STOP_RULES]
        if unknown:
            raise ValueError(f"{unknown[0]!s} is not a stop rule")
        if not 1 <= self.plateau_window < self.plateau_rounds:
            raise ValueError("plateau_window must be at least 1 and less than plateau_rounds")
        if self.judge_limit_chars < 1:
            raise ValueError("the judge must see at least one character")
        if self.source_limit_chars < 1:
            raise ValueError("prompts must contain at least one character of the sources")
        if self.producer_tokens < 1:
            raise ValueError("the writer must be allowed at least one token")
        if not ZERO <= exact(self.producer_temperature) <= 2:
            raise ValueError("the writer's temperature must be between 0 and 2")
        for number in (self.pass_threshold, self.perfect_score, self.least_gain):
            if number is not None:
                exact(number)

    @property
    def goes_by_noise(self) -> bool:
        """Whether gains are compared with the judge's noise."""
        return self.minimum_gain is MinimumGain.NOISE

    @property
    def least_gain(self) -> Decimal | None:
        """The minimum gain if it is a number."""
        return None if isinstance(self.minimum_gain, MinimumGain) else self.minimum_gain


@dataclass(frozen=True, slots=True)
class Rubric:
    """One version of a rubric, with everything a run needs."""

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
    output_contract: str = ""  # in prose, for prompts
    output_schema: Mapping[str, object] = field(default_factory=dict)  # a JSON schema; code decides by it
    output_pattern: str = ""  # a regular expression that must match somewhere in the output
    search_space: str = ""
    templates: Mapping[str, str] = field(default_factory=dict)  # custom templates, by name
    calibration_text: str = ""  # an example with known scores, for the judge
    calibration_scores: Mapping[str, Decimal] = field(default_factory=dict)
    judges: Judges = field(default_factory=Judges)
    # What a round must reach to pass, besides the pass threshold if there is one. None: only the threshold.
    gates: tuple[Gate, ...] | None = None

    @property
    def decides(self) -> bool:
        """Whether a run ends with PASS or FAIL, and not just DONE."""
        return self.policy.pass_threshold is not None or self.gates is not None

    def mark_of(self, key: str) -> Decimal:
        """The score from which this criterion is met: that of its own gate, or `criterion_mark`."""
        own = [gate.threshold for gate in self.gates or () if gate.keys == (key,)]
        return self.scale.spread(max(own)) if own else self.criterion_mark

    @property
    def primary(self) -> Criterion | None:
        """The criterion that ranks rounds before the composite, if the policy says so."""
        if not self.policy.primary_first:
            return None
        return next((criterion for criterion in self.criteria if criterion.primary), None)

    @property
    def criterion_mark(self) -> Decimal:
        """The score from which a criterion is met: the pass threshold, or the top of the scale."""
        threshold = self.policy.pass_threshold
        return self.scale.maximum if threshold is None else threshold

    @property
    def runs_a_command(self) -> bool:
        """Whether the evaluator command runs before each judgement."""
        return bool(self.evaluator.command) and self.evaluation_mode is not EvaluationMode.JUDGE_ONLY

    @property
    def validates(self) -> bool:
        """Whether a validation command runs before the evaluator's."""
        return self.runs_a_command and bool(self.evaluator.validation)

    def __post_init__(self) -> None:
        if not self.criteria and not self.checks:
            raise ValueError("a rubric needs at least one criterion or one check")
        for kind, keys in (
            ("criterion", [criterion.key for criterion in self.criteria]),
            ("check", [check.key for check in self.checks]),
        ):
            if len(keys) != len(set(keys)):
                raise ValueError(f"duplicate {kind} key")
        if sum(criterion.primary for criterion in self.criteria) > 1:
            raise ValueError("only one criterion can be primary")
        if not self.criteria and not self.policy.checks_in_composite:
            raise ValueError("a rubric without criteria must count its checks in the composite")
        for name in ("pass_threshold", "perfect_score"):
            limit = getattr(self.policy, name)
            if limit is not None and not self.scale.minimum <= limit <= self.scale.maximum:
                raise ValueError(f"{name} is outside the scale")
        penalised = self.policy.penalties.criterion
        if penalised is not None and penalised not in {criterion.key for criterion in self.criteria}:
            raise ValueError(f"penalties apply to {penalised!r}, which is not a criterion")
        _validate_gates(self)
        _validate_calibration(self)


def _validate_gates(rubric: Rubric) -> None:
    known = {entry.key for entry in rubric.criteria} | {check.key for check in rubric.checks}
    for gate in rubric.gates or ():
        if not set(gate.keys) <= known:
            raise ValueError(f"a gate names {gate.keys}, which are not all criteria or checks")


def _validate_calibration(rubric: Rubric) -> None:
    """A calibration example has a text and at least one score, each for one of the rubric's criteria."""
    if bool(rubric.calibration_text) != bool(rubric.calibration_scores):
        raise ValueError("a calibration example needs both a text and at least one score")
    keys = {criterion.key for criterion in rubric.criteria}
    for key, score in rubric.calibration_scores.items():
        if key not in keys:
            raise ValueError(f"the calibration example has a score for {key!r}, which is not a criterion")
        if not rubric.scale.admits(score):
            raise ValueError(f"the calibration example's score for {key!r} is not on the scale")
