"""The words of an evaluation: files, cases, targets and how the loop is to run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from refinement.engine.profiles import RALPH_POLICY
from refinement.engine.types import Check, Criterion
from refinement.providers.registry import EndpointSpec

LOCAL_PREFIX = "eval:"  # no endpoint of an instance can have such a name


@dataclass(frozen=True, slots=True)
class Loop:
    """How often a failing case is asked again, and when it is good enough; None was not said."""

    max_iterations: int | None = None
    threshold: Decimal | None = None
    improvement_threshold: Decimal | None = None
    feedback_template: str | None = None  # its text

    def over(self, other: "Loop") -> "Loop":
        """These settings, and the other's where nothing was said."""
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
    """Who is asked: an endpoint of the instance, or one that the eval's own files describe."""

    name: str
    endpoint: str
    model: str
    spec: EndpointSpec | None = None  # None: the instance knows the endpoint
    judge: str = ""  # the target that judges what this one writes
    temperature: Decimal = Decimal(0)  # an evaluation should say the same when it is repeated
    max_tokens: int | None = None

    @property
    def is_command(self) -> bool:
        return self.spec is not None and self.spec.kind == "command"


@dataclass(frozen=True, slots=True)
class Case:
    """One prompt and what must hold of the answer."""

    name: str
    line: int
    prompt: str
    checks: tuple[Check, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    threshold: Decimal | None = None
    types: Mapping[str, str] = field(default_factory=dict)  # the assertions' own, by key


@dataclass(frozen=True, slots=True)
class EvalFile:
    """A file as it was read; `wanted` names the targets it asks for, in its order."""

    path: Path
    name: str
    cases: tuple[Case, ...]
    targets: Mapping[str, Target] = field(default_factory=dict)
    wanted: tuple[str, ...] = ()
    judge: str = ""
    loop: Loop = Loop()


class BadEval(ValueError):
    """Everything that keeps an evaluation from being run, each problem with its file and line."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))
