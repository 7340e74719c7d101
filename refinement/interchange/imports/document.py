"""The schema of a run document: written by `run_json` and built by all import readers.

Unknown fields are collected, so that the import can report them.
"""

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from refinement.engine.kinds import Outcome, Severity, Stance, StopReason
from refinement.engine.panels import LENS_CHARS, MOST_JUDGES, NAME_CHARS
from refinement.engine.rubrics import MOST_REPEATS
from refinement.interchange.imports.document_types import (
    MOST_COUNT,
    MOST_ENTRIES,
    MOST_ROUNDS,
    MOST_TEXT,
    MOST_TOTAL,
    Count,
    Line,
    MetricNumbers,
    Moment,
    Name,
    Number,
    Score,
    Seat,
    Small,
    Text,
    Words,
)
from refinement.judging.sources import MOST_CHARS, MOST_CHARS_TOGETHER, MOST_NAME_CHARS, MOST_SOURCES
from refinement.texts import label


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


class ClerkName(Part):
    endpoint: Line = ""
    model: Annotated[str, Field(max_length=200)] = ""


class PanelPart(Part):
    """A judge of the run's board."""

    seat: Seat
    name: Annotated[str, Field(min_length=1, max_length=NAME_CHARS)]
    lens: Annotated[str, Field(min_length=1, max_length=LENS_CHARS)]
    endpoint: Line = ""
    model: Annotated[str, Field(max_length=200)] = ""
    by_clerk: bool = False


def _seats_in_order(panel: list[PanelPart]) -> list[PanelPart]:
    if [judge.seat for judge in panel] != list(range(1, len(panel) + 1)):
        raise ValueError("the seats of a board must be numbered from 1, without gaps")
    return panel


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
    experiment: int | None = None  # of the instance that exported it
    rubric: RubricName = RubricName()
    producer: ModelName = ModelName()
    judge: ModelName = ModelName()
    clerk: ClerkName = ClerkName()
    panel: Annotated[list[PanelPart], Field(max_length=MOST_JUDGES), AfterValidator(_seats_in_order)] = []
    other_contexts: Annotated[dict[Annotated[str, Field(max_length=700)], Count], Field(max_length=20)] = {}
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
    escalated_after: Count = 0
    plateau_accepted: bool = False
    smallest_difference: Annotated[Score, Field(ge=0, lt=1_000)] | None = None
    same_text_moved: Annotated[Score, Field(ge=0)] | None = None
    failure_role: Literal["", "judge", "producer", "clerk"] = ""
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


class StancePart(Part):
    """What a judge says about one of its scores in the deliberation."""

    key: Annotated[str, Field(min_length=1, max_length=60)]
    stance: Stance
    score: Score
    reasoning: Text = ""


class BoardPart(Part):
    """One judge's answers on a board."""

    seat: Seat
    scores: Annotated[list[VerdictScore], Field(max_length=200)] = []
    issues: Words = []
    asi: Text = ""
    contract_violation: Text = ""
    problem: Text = ""
    seen_chars: Count | None = None
    scored_at: Moment | None = None
    stances: Annotated[list[StancePart], Field(max_length=200)] | None = None
    stances_problem: Text = ""
    deliberated_at: Moment | None = None


class SummaryPart(Part):
    """What the clerk says about a board's round."""

    working: Words = []
    not_working: Words = []
    direction: Text = ""
    problem: Text = ""


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
    score: Annotated[Score, Field(ge=0, le=1)] | None = None
    expected: Text = ""
    actual: Text = ""


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
    key_change: Annotated[str, Field(max_length=60)] | None = None
    spread: dict[str, Score] | None = None
    summary: SummaryPart | None = None
    board: Annotated[list[BoardPart], Field(max_length=MOST_JUDGES)] = []
    verdicts: Annotated[list[VerdictPart], Field(max_length=20)] = []
    checks: Annotated[list[CheckPart], Field(max_length=200)] = []
    evaluator: EvaluatorPart | None = None
    evaluator_repeats: Annotated[list[RepeatPart], Field(max_length=MOST_REPEATS)] = []
    validations: Annotated[list[ValidationPart], Field(max_length=2)] = []


class CallPart(Part):
    round_number: Count
    role: Annotated[str, Field(max_length=10)]
    purpose: Annotated[str, Field(max_length=10)] = ""
    seat: Annotated[int, Field(ge=0, le=MOST_JUDGES)] = 0
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

    @model_validator(mode="after")
    def _with_purpose(self) -> "CallPart":
        """Older files do not say what a call was for; a role then had one purpose per round."""
        if not self.purpose:
            writing = "draft" if self.round_number == 1 else "revise"
            self.purpose = writing if self.role == "producer" else "score"
        return self


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


class FeedbackPart(Part):
    """What became of a piece of feedback. Only people's corrections are imported; the rest is computed."""

    round: Number
    kind: Literal["issue", "suggestion", "improvement"]
    position: Count = 0
    fate: Literal["", "addressed", "open", "came_back", "worse", "overtaken"] = ""
    why: Text = ""
    revision: Number = 1
    raised: bool | None = None
    corrected_by: Name = ""
    corrected_at: Moment | None = None


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
    feedback: Annotated[list[FeedbackPart], Field(max_length=MOST_ENTRIES)] = []

    @property
    def corrections(self) -> list[FeedbackPart]:
        """What people said became of feedback."""
        return [entry for entry in self.feedback if entry.corrected_by and entry.fate]
