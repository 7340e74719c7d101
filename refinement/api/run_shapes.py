"""Runs as the API shows them: a line of a list, and whole."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any

from ninja import Field, Schema

from refinement.models import Run
from refinement.selectors.rubrics import plain


class RubricRef(Schema):
    """The version of a rubric."""

    slug: str = Field(examples=["wiggum"])
    name: str = Field(examples=["Wiggum"])
    version: int = Field(examples=[3])


class RunLine(Schema):
    """A run in a list: everything but its texts."""

    id: int = Field(examples=[12])
    title: str = Field(description="The beginning of the task.", examples=["Explain our backups"])
    status: str = Field(description="queued, running, waiting, paused or finished.", examples=["finished"])
    outcome: str = Field(description="PASS, FAIL, DONE, ERROR or CANCELLED; empty before.", examples=["PASS"])
    stop_reason: str = Field(examples=["passed"])
    why: str = Field(description="Why it stopped, in a sentence.")
    rubric: RubricRef
    producer: str = Field(description="Endpoint, slash, model.", examples=["ollama/qwen3:4b"])
    judge: str = Field(examples=["ollama/gemma3:12b"])
    kinship: str = Field(description="same_model, same_family, or empty.")
    r1: str | None = Field(description="The first round's composite.", examples=["7.4"])
    best: str | None = Field(examples=["9.1"])
    best_round: int | None = Field(examples=[3])
    last: str | None = Field(examples=["9.1"])
    improvement: str | None = Field(description="Last minus first.", examples=["1.75"])
    rounds_judged: int = Field(examples=[3])
    trajectory: list[str] = Field(description="The rounds' composites in order.")
    signal_rounds: int = Field(description="Rounds in which the judge did not track the revision.")
    penalty_rounds: int
    cut_rounds: int = Field(description="Rounds of which the judge saw a part.")
    prompt_tokens: int
    completion_tokens: int
    calls_made: int
    model_seconds: str = Field(examples=["42.5"])
    decision: str | None = Field(description="What people decided: approved, result, changes, rejected.")
    chosen_round: int | None = Field(description="The round that people made the result.")
    tags: list[str]
    batch: str = Field(description="Runs that were launched together share one.")
    created_by: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    archived_at: datetime | None
    waiting_for: str
    next_try_at: datetime | None


class RunWhole(RunLine):
    """A run with what it was given and what it carries."""

    task: str
    seed: str = Field(description="The text it began with; empty where the producer wrote the first draft.")
    rubric_used: dict[str, Any] = Field(description="The rubric as this run uses it.")
    rerun_of: int | None
    failure_role: str
    failure_message: str


@dataclass(frozen=True, slots=True)
class Told:
    """A run and its tags, which are rows of their own."""

    run: Run
    tags: list[str]


def exact(value: Decimal | int | None) -> str | None:
    """A decimal as text, without the zeros that its column adds."""
    return None if value is None else plain(Decimal(value))


def _decimal(name: str) -> Callable[[Told], str | None]:
    return lambda told: exact(getattr(told.run, name))


def _model(role: str) -> Callable[[Told], str]:
    return lambda told: f"{getattr(told.run, f'{role}_endpoint')}/{getattr(told.run, f'{role}_model')}"


def _rubric(told: Told) -> RubricRef:
    run = told.run
    return RubricRef(slug=run.rubric.slug, name=run.rubric.name, version=run.rubric_version.number)


AS_THEY_ARE = (
    "title", "status", "outcome", "stop_reason", "why", "kinship", "best_round", "rounds_judged",
    "signal_rounds", "penalty_rounds", "cut_rounds", "prompt_tokens", "completion_tokens",
    "calls_made", "decision", "chosen_round", "batch", "created_at", "started_at", "finished_at",
    "archived_at", "waiting_for", "next_try_at",
)  # fmt: skip
LINE: Mapping[str, Callable[[Told], Any]] = {
    "id": lambda told: told.run.pk,
    **{name: attrgetter(f"run.{name}") for name in AS_THEY_ARE},
    **{name: _decimal(name) for name in ("r1", "best", "last", "improvement", "model_seconds")},
    "trajectory": lambda told: [exact(Decimal(score)) for score in told.run.trajectory],
    "rubric": _rubric,
    "producer": _model("producer"),
    "judge": _model("judge"),
    "tags": attrgetter("tags"),
    "created_by": lambda told: told.run.created_by.display_name if told.run.created_by else "",
}
WHOLE: Mapping[str, Callable[[Told], Any]] = {
    **LINE,
    **{name: attrgetter(f"run.{name}") for name in ("task", "seed", "failure_role", "failure_message")},
    "rubric_used": attrgetter("run.snapshot"),
    "rerun_of": attrgetter("run.rerun_of_id"),
}


def run_whole(run: Run) -> RunWhole:
    """The run with all its fields."""
    told = Told(run, list(run.tags.values_list("name", flat=True)))
    return RunWhole(**{name: get(told) for name, get in WHOLE.items()})
