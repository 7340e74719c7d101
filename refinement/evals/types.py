"""Data types of evaluations: files, cases, targets and loop settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from refinement.engine.profiles import RALPH_POLICY
from refinement.engine.types import Check, Criterion
from refinement.providers.registry import EndpointSpec

LOCAL_PREFIX = "eval:"  # not allowed in names of instance endpoints


@dataclass(frozen=True, slots=True)
class Loop:
    """Loop settings: iterations, thresholds and feedback. None is not set."""

    max_iterations: int | None = None
    threshold: Decimal | None = None
    improvement_threshold: Decimal | None = None
    feedback_template: str | None = None  # its text

    def over(self, other: "Loop") -> "Loop":
        """These settings, with the other's for those that are not set."""
        return Loop(
            self.max_iterations if self.max_iterations is not None else other.max_iterations,
            self.threshold if self.threshold is not None else other.threshold,
            self.improvement_threshold
            if self.improvement_threshold is not None
            else other.improvement_threshold,
            self.feedback_template if self.feedback_template is not None else other.feedback_template,
        )


DEFAULT_LOOP = Loop(RALPH_POLICY.max_rounds, RALPH_POLICY.pass_threshold, RALPH_POLICY.minimum_gain)


@dataclass(frozen=True, slots=True)
class Target:
    """The model or command under test: an endpoint of the instance, or one defined in the eval's files."""

    name: str
    endpoint: str
    model: str
    spec: EndpointSpec | None = None  # None for endpoints of the instance
    judge: str = ""  # the target that judges this one's answers
    temperature: Decimal = Decimal(0)  # for repeatable results
    max_tokens: int | None = None

    @property
    def is_command(self) -> bool:
        return self.spec is not None and self.spec.kind == "command"


@dataclass(frozen=True, slots=True)
class Case:
    """One prompt and the assertions on the answer."""

    name: str
    line: int
    prompt: str
    checks: tuple[Check, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    threshold: Decimal | None = None
    types: Mapping[str, str] = field(default_factory=dict)  # the type of each assertion, by key


@dataclass(frozen=True, slots=True)
class EvalFile:
    """An eval file. `wanted` are the names of its selected targets."""

    path: Path
    name: str
    cases: tuple[Case, ...]
    targets: Mapping[str, Target] = field(default_factory=dict)
    wanted: tuple[str, ...] = ()
    judge: str = ""
    loop: Loop | None = None  # None if the file does not ask for the loop


class BadEval(ValueError):
    """An evaluation cannot run. Each problem has its file and line."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))
