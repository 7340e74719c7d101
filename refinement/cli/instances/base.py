"""The interface of local and remote instances, and the types that `--json` prints."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, Protocol, TypedDict

from refinement.judging.sources import SourceText

Verb = Literal["cancel", "pause", "resume", "retry"]
RUN_FORMS = ("json", "md", "txt")
MANY_FORMS = ("csv", "jsonl")
TRAINING_FORMS = ("sft", "pairs")


class RubricLine(TypedDict):
    """A rubric in a list, with its newest version."""

    slug: str
    name: str
    version: int
    profile: str
    purpose: str
    criteria: int
    checks: int
    archived: bool


@dataclass(frozen=True, slots=True)
class RubricText:
    """One version of a rubric as a YAML file."""

    slug: str
    version: int
    text: str


@dataclass(frozen=True, slots=True)
class Push:
    """A rubric file to push. `base` is the version it was made from, if known."""

    slug: str
    text: str
    base: int | None = None
    force: bool = False
    note: str = ""


class Pushed(TypedDict):
    """The result of a push. If unchanged, `version` is the equal one."""

    rubric: str
    version: int
    status: Literal["created", "saved", "unchanged"]


class RunLine(TypedDict):
    """A run without its texts. Scores are floats for display only."""

    run: int
    project: str
    title: str
    task_type: str
    status: str
    outcome: str
    stop_reason: str
    why: str
    rubric: str  # slug@version
    producer: str  # endpoint/model
    judge: str
    clerk: str
    rounds_judged: int
    composites: list[float]
    r1: float | None
    best: float | None
    best_round: int | None
    passed_in_round: int | None
    last: float | None
    improvement: float | None
    tokens: int
    seconds: float
    waiting_for: str
    asking: bool  # it waits for a decision: `run_answer`
    escalated_after: int  # the last round before a board took over; 0 if none did
    created_at: str
    finished_at: str | None


class RunReport(RunLine):
    """The run with every round and the best candidate."""

    judge_mode: str
    panel: list[dict[str, Any]]
    rounds: list[dict[str, Any]]
    best_candidate: str | None


@dataclass(frozen=True, slots=True)
class RunQuery:
    """Filters of a list of runs. Empty fields are ignored."""

    status: str = ""
    outcome: str = ""
    rubric: str = ""
    task_type: str = ""
    tag: str = ""
    words: str = ""
    since: date | None = None
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Training:
    """Options of a training data export; see docs/training-pairs.md."""

    form: str
    run: int | None = None  # only this run
    least: Decimal | None = None
    with_imported: bool = False


class NewRun(TypedDict):
    """A run to create."""

    rubric: str  # slug or slug@version
    task: str
    task_type: str
    seed: str
    sources: list[SourceText]
    producer: str
    judge: str
    clerk: str
    held_out: str
    changes: dict[str, str]  # of the rubric, for this run only, by path


class ImportAnswer(TypedDict):
    """The result of an import; see docs/import.md."""

    dry_run: bool
    new: int
    here: int
    refused: int
    runs: list[dict[str, Any]]
    notes: list[dict[str, Any]]


class Instance(Protocol):
    """A project's rubrics and runs. Failures raise the errors of `refinement.cli.exits`."""

    def rubrics(self, *, archived: bool = False) -> list[RubricLine]: ...

    def rubric_text(self, slug: str, version: int | None = None) -> RubricText: ...

    def rubric_push(self, push: Push) -> Pushed: ...

    def runs(self, query: RunQuery, limit: int) -> list[RunLine]: ...

    def run_line(self, number: int) -> RunLine: ...

    def run_report(self, number: int) -> RunReport: ...

    def run_act(self, number: int, verb: Verb) -> RunLine: ...

    def run_answer(self, number: int, answer: str) -> RunLine: ...

    def run_document(self, number: int, form: str) -> Iterator[str]: ...

    def runs_document(self, query: RunQuery, form: str) -> Iterator[str]: ...

    def training_document(self, query: RunQuery, training: Training) -> Iterator[str]: ...

    def import_paths(
        self,
        paths: Sequence[Path],
        *,
        dry_run: bool,
        weights: Mapping[str, Decimal] | None = None,
        on_progress: Callable[[str], None],
    ) -> ImportAnswer: ...

    def poll_seconds(self) -> float: ...
