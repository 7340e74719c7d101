"""Data types of evaluations: files, cases, targets and loop settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from pathlib import Path

from refinement.engine.profiles import RALPH_POLICY
from refinement.engine.types import ONE, Check, Criterion, Severity
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


# Without a threshold, every assertion must hold.
DEFAULT_LOOP = Loop(RALPH_POLICY.max_rounds, None, RALPH_POLICY.least_gain)


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


class Dialect(StrEnum):
    """Whose format a file is written in."""

    WIGGUM = "wiggum"
    PROMPTFOO = "promptfoo"
    AGENTV = "agentv"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt: system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Assertion:
    """One assertion as every dialect's reader writes it: names are unified, vars filled in, files read.

    `kind` is promptfoo's name without `not-` (`contains-any`, `is-json`, `llm-rubric`, …), or Wiggum's
    (`length`, `json-schema`, `script`). `value` is JSON data: text, number, list or mapping. `parameters`
    are the kind's other keys.

    Where code is in a file (`javascript`, `python`), `value` is its text, and `parameters` has `file` (an
    absolute path) and maybe `function`. A `script` has `command` (a list), `cwd` (absolute) and `timeout`
    there; `contract` is "json" if it reads AgentV's JSON on stdin and prints a score. An `llm-rubric` has a
    text or a list of items as value, and maybe `prompt` (its own template), `reference` (the expected
    answer) and `provider`. An `assert-set` has its assertions in `parts`.
    """

    kind: str
    value: object = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    negated: bool = False
    weight: Decimal = ONE
    threshold: Decimal | None = None
    severity: Severity | None = None  # None: the dialect's default
    suggestion: str = ""
    metric: str = ""
    id: str = ""
    required: bool | Decimal = False  # the case fails without it; a number is the least score
    parts: tuple["Assertion", ...] = ()
    transforms: tuple[Mapping[str, object], ...] = ()  # `code` and maybe `function`: what is checked instead
    line: int = 1
    file: Path | None = None  # if it is not in the eval file itself


@dataclass(frozen=True, slots=True)
class Rule:
    """Assertions, by key, that must reach a score for the case to pass.

    With `always`, even if the test or the file sets a threshold; otherwise only if none is set.
    """

    keys: tuple[str, ...]
    threshold: Decimal = ONE
    always: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A command that prepares a workspace, and the folder it runs in."""

    command: tuple[str, ...]
    folder: Path


@dataclass(frozen=True, slots=True)
class Workspace:
    """The files that a case works with. Commands and scripts get a copy of `template`, which they may change.

    `before` runs once, before the template is copied. `setup` runs for every copy.
    """

    template: Path | None = None
    before: tuple[Step, ...] = ()
    setup: tuple[Step, ...] = ()
    lacks: str = ""  # what it would also need, so that commands and scripts cannot use it
    line: int = 1


@dataclass(frozen=True, slots=True)
class Case:
    """One prompt and the assertions on the answer."""

    name: str
    line: int
    prompt: str  # all messages as one text
    checks: tuple[Check, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    threshold: Decimal | None = None
    types: Mapping[str, str] = field(default_factory=dict)  # the type of each assertion, by key
    rules: tuple[Rule, ...] = ()  # what must hold, see `preparing.prepared`
    metrics: Mapping[str, str] = field(default_factory=dict)
    sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()  # the prompt in parts, at least one
    assertions: tuple[Assertion, ...] = ()
    variables: Mapping[str, object] = field(default_factory=dict)  # JSON data
    expected: str = ""  # a reference answer, for judges and scripts
    repeat: int = 1
    only: tuple[str, ...] = ()  # the targets it runs with; empty: all
    conversation_id: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)  # no effect; kept in results
    workspace: Workspace | None = None


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
    dialect: Dialect = Dialect.WIGGUM
    ignored: tuple["Ignored", ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class Ignored:
    """Something that the reader left out because it does not change a result. One per kind of thing."""

    what: str
    reason: str
    line: int  # of the first
    count: int = 1


class BadEval(ValueError):
    """An evaluation cannot run. Each problem has its file and line."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))
