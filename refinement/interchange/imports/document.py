"""The schema of a run document: written by `run_json` and built by all import readers.

Unknown fields are collected, so that the import can report them.
"""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from refinement.engine.evaluating import metric_number
from refinement.engine.kinds import Outcome, Severity, StopReason
from refinement.engine.rubrics import MOST_REPEATS
from refinement.judging.sources import MOST_CHARS, MOST_CHARS_TOGETHER, MOST_NAME_CHARS, MOST_SOURCES
from refinement.texts import label

MOST_TEXT = 10_000_000
MOST_ENTRIES = 20_000
MOST_ROUNDS = 1_000
MOST_COUNT = 2**31 - 1
MOST_TOTAL = 2**63 - 1


def _exact(value: object) -> object:
    """The number without float rounding. Exports write decimals as strings."""
    if isinstance(value, bool) or (isinstance(value, str) and len(value) > 40):
        raise ValueError("not a number")
    return str(value) if isinstance(value, float) else value


def _metric(text: str) -> str:
    """A metric's number as text, as exact as in the file."""
    if metric_number(text) is None:
        raise ValueError("not a number")
    return text


def _aware(moment: datetime) -> datetime:
    """The time with a time zone, by default UTC. Raises ValueError for implausible years."""
    if not 1970 <= moment.year <= 2200:
        raise ValueError("not a plausible time")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


Moment = Annotated[datetime, AfterValidator(_aware)]
Text = Annotated[str, Field(max_length=MOST_TEXT)]
Line = Annotated[str, Field(max_length=400)]
Name = Annotated[str, Field(max_length=120)]
Count = Annotated[int, Field(ge=0, le=MOST_COUNT)]
Number = Annotated[int, Field(ge=1, le=MOST_COUNT)]
Small = Annotated[int, Field(ge=0, le=32_767)]
Score = Annotated[
    Decimal,
    BeforeValidator(_exact),
    Field(allow_inf_nan=False, gt=Decimal(-(10**8)), lt=Decimal(10**8)),
]
MetricNumber = Annotated[str, AfterValidator(_metric)]
MetricNumbers = Annotated[list[MetricNumber], Field(max_length=MOST_REPEATS)]
Words = Annotated[list[Text], Field(max_length=MOST_ENTRIES)]


class Part(BaseModel):
    """A record of the document. `unknown` are the names of fields that are not supported."""

    model_config = ConfigDict(extra="allow")

    @property
    def unknown(self) -> list[str]:
        return list(self.model_extra or {})


class RubricName(Part):
    slug: Annotated[str, Field(max_length=80)] = ""
    name: Annotated[str, Field(max_length=160)] = ""
    version: Count = 1


class ModelName(Part):
    endpoint: Line = ""
    model: Annotated[str, Field(max_length=200)] = ""
    family: Annotated[str, Field(max_length=100)] = ""
    context: Count | None = None


class RunPart(Part):
    """The run. Its figures are those in the file; they are recomputed on import."""

    id: Annotated[int, Field(le=MOST_TOTAL)] | None = None
    project: Line = ""
    title: Annotated[str, Field(max_length=160)] = ""
    task_type: Annotated[str, AfterValidator(label), Field(max_length=50)] = ""
    batch: Annotated[str, Field(max_length=16)] = ""
    tags: Annotated[list[Annotated[str, Field(min_length=1, max_length=50)]], Field(max_length=20)] = []
    created_by: Name = ""
    created_at: Moment | None = None
    started_at: Moment | None = None
    finished_at: Moment | None = None
    archived_at: Moment | None = None
    rerun_of: int | None = None
    rubric: RubricName = RubricName()
    producer: ModelName = ModelName()
    judge: ModelName = ModelName()
    kinship: Literal["", "same_model", "same_family"] = ""
    status: Literal["finished"] = "finished"
    outcome: Outcome
    stop_reason: StopReason
    why: Text = ""
    r1: Score | None = None
    best: Score | None = None
    last: Score | None = None
    improvement: Score | None = None
    best_round: Count | None = None
    passed_in_round: Count | None = None
    rounds_judged: Count = 0
    trajectory: Annotated[list[Annotated[str, Field(max_length=40)]], Field(max_length=MOST_ROUNDS)] = []
    signal_rounds: Count = 0
    penalty_rounds: Count = 0
    cut_rounds: Count = 0
    prompt_tokens: Annotated[int, Field(ge=0, le=MOST_TOTAL)] = 0
    completion_tokens: Annotated[int, Field(ge=0, le=MOST_TOTAL)] = 0
    calls_made: Count = 0
    model_seconds: Score = Decimal(0)
    extended_after: Count = 0
    failure_role: Literal["", "judge", "producer"] = ""
    failure_message: Text = ""
    decision: Literal["result", "approved", "changes", "rejected"] | None = None
    chosen_round: Count | None = None
    nonce: Annotated[str, Field(max_length=32, pattern=r"^[0-9a-zA-Z]*$")] = ""
    task: Text = ""
    seed: Text = ""
    snapshot: dict[str, Any]
    calibration: dict[str, Any] | None = None
    imported: dict[str, Any] | None = None


class VerdictScore(Part):
    key: Annotated[str, Field(min_length=1, max_length=60)]
    score: Score
    reasoning: Text = ""
    improvement: Text = ""


class VerdictPart(Part):
    position: Small = 0
    judge: Annotated[str, Field(max_length=200)] = ""
    scores: Annotated[list[VerdictScore], Field(max_length=200)] = []
    issues: Words = []
    asi: Text = ""
    created_at: Moment | None = None


class CheckPart(Part):
    position: Small = 0
    key: Annotated[str, Field(max_length=60)]
    passed: bool
    message: Text = ""
    severity: Severity = Severity.ERROR
    weight: Annotated[Score, Field(gt=0, lt=100_000)] = Decimal(1)
    suggestion: Text = ""
    start: Count | None = None
    end: Count | None = None


class PenaltyPart(Part):
    criterion: Annotated[str, Field(max_length=60)]
    points: Score
    names: Words = []


class CommandPart(Part):
    """One run of a command."""

    command: Annotated[list[Annotated[str, Field(max_length=2_000)]], Field(max_length=60)] = []
    exit_code: Annotated[int, Field(ge=-MOST_COUNT, le=MOST_COUNT)] | None = None
    stopped: Annotated[str, Field(max_length=200)] = ""
    stdout: Text = ""
    stderr: Text = ""
    stdout_missing: Annotated[int, Field(ge=0, le=MOST_TOTAL)] = 0
    stderr_missing: Annotated[int, Field(ge=0, le=MOST_TOTAL)] = 0
    seconds: Annotated[Score, Field(ge=0)] = Decimal(0)
    open_to: Literal["", "network", "files", "all"] = ""
    at: Moment | None = None

    @model_validator(mode="after")
    def _ended_or_stopped(self) -> "CommandPart":
        if (self.exit_code is None) is not bool(self.stopped):
            raise ValueError("a command has either an exit code or a reason why it was stopped")
        return self


class RepeatPart(CommandPart):
    """One of several runs of the evaluator command in a round."""

    number: Annotated[int, Field(ge=1, le=MOST_REPEATS)]
    failure: Annotated[str, Field(max_length=300)] = ""
    metrics: Annotated[dict[Name, MetricNumbers], Field(max_length=100)] = {}


class ValidationPart(CommandPart):
    """The validation command on a round's candidate: as written, or after a repair."""

    number: Annotated[int, Field(ge=1, le=2)]
    replaced: Text = ""


class EvaluatorPart(CommandPart):
    """The output of the evaluator command in a round."""

    failure: Annotated[str, Field(max_length=300)] = ""
    metrics: Annotated[dict[Name, MetricNumbers], Field(max_length=100)] = {}
    runs: Annotated[int, Field(ge=1, le=MOST_REPEATS)] = 1
    failed_runs: Annotated[int, Field(ge=0, le=MOST_REPEATS)] = 0


class RoundPart(Part):
    number: Annotated[int, Field(ge=1, le=65_535)]
    origin: Literal["seed", "draft", "revision", "hand", "absent"]
    author_name: Name | None = None
    base_round: Count | None = None
    feedback: dict[str, Any] | None = None
    candidate: Text = ""
    candidate_chars: Count | None = None
    candidate_cut: bool = False
    created_at: Moment | None = None
    judged_at: Moment | None = None
    composite: Score | None = None
    scores: dict[str, Score] | None = None
    contract_violation: Annotated[str, Field(max_length=2_000)] = ""
    penalties: Annotated[list[PenaltyPart], Field(max_length=200)] = []
    signals: Annotated[list[dict[str, Any]], Field(max_length=200)] = []
    seen_chars: Count | None = None
    judge_attempts: Small = 0
    parse_rung: Annotated[str, Field(max_length=30)] = ""
    verdicts: Annotated[list[VerdictPart], Field(max_length=20)] = []
    checks: Annotated[list[CheckPart], Field(max_length=200)] = []
    evaluator: EvaluatorPart | None = None
    evaluator_repeats: Annotated[list[RepeatPart], Field(max_length=MOST_REPEATS)] = []
    validations: Annotated[list[ValidationPart], Field(max_length=2)] = []


class CallPart(Part):
    round_number: Count
    role: Annotated[str, Field(max_length=10)]
    attempt: Small
    endpoint: Line = ""
    model: Annotated[str, Field(max_length=200)] = ""
    messages: list[Any] = []
    options: dict[str, Any] = {}
    seen: list[Any] = []
    withheld: list[Any] = []
    started_at: Moment
    finished_at: Moment
    reply: Text = ""
    thinking: Text = ""
    finish_reason: Annotated[str, Field(max_length=20)] = ""
    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    cached_tokens: Count | None = None
    seconds: Score = Decimal(0)
    timings: dict[str, Any] = {}
    rung: Annotated[str, Field(max_length=30)] = ""
    complaint: Text = ""
    error_kind: Annotated[str, Field(max_length=30)] = ""
    error_message: Text = ""


class EventPart(Part):
    kind: Annotated[str, Field(max_length=20)]
    at: Moment | None = None
    actor: Name = ""
    data: dict[str, Any] = {}


class HumanScorePart(Part):
    round: Number
    author_name: Name
    scores: Annotated[list[dict[str, Any]], Field(max_length=200)]
    composite: Score
    note: Text = ""
    blind: bool = False
    submitted_at: Moment | None = None
    changed_at: Moment | None = None
    version: Number = 1


class DecisionPart(Part):
    number: Number
    kind: Literal["result", "approved", "changes", "rejected", "withdrawn"]
    round_number: Number | None = None
    reason: Annotated[str, Field(min_length=1, max_length=MOST_TEXT)]
    author_name: Name
    at: Moment | None = None


class InstructionPart(Part):
    author_name: Name
    text: Annotated[str, Field(min_length=1, max_length=MOST_TEXT)]
    created_at: Moment | None = None
    used_in_round: Number | None = None
    withdrawn_at: Moment | None = None


class SourcePart(Part):
    """A source text of the run."""

    position: Annotated[int, Field(ge=1, le=MOST_SOURCES)]
    name: Annotated[str, Field(min_length=1, max_length=MOST_NAME_CHARS)]
    chars: Count = 0
    shown_chars: Count = 0
    text: Annotated[str, Field(min_length=1, max_length=MOST_CHARS)]


def _in_order(sources: list[SourcePart]) -> list[SourcePart]:
    if [source.position for source in sources] != list(range(1, len(sources) + 1)):
        raise ValueError("sources must be numbered from 1, without gaps")
    if sum(len(source.text) for source in sources) > MOST_CHARS_TOGETHER:
        raise ValueError(f"the sources have more than {MOST_CHARS_TOGETHER:,} characters together")
    return sources


class RunDocument(Part):
    """A complete run."""

    wiggum_run: Literal[1] = 1
    run: RunPart
    sources: Annotated[list[SourcePart], Field(max_length=MOST_SOURCES), AfterValidator(_in_order)] = []
    rounds: Annotated[list[RoundPart], Field(max_length=MOST_ROUNDS)] = []
    calls: Annotated[list[CallPart], Field(max_length=MOST_ENTRIES)] = []
    events: Annotated[list[EventPart], Field(max_length=MOST_ENTRIES)] = []
    human_scores: Annotated[list[HumanScorePart], Field(max_length=MOST_ENTRIES)] = []
    decisions: Annotated[list[DecisionPart], Field(max_length=MOST_ENTRIES)] = []
    instructions: Annotated[list[InstructionPart], Field(max_length=MOST_ENTRIES)] = []
