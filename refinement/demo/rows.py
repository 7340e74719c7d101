"""Writes stories as rows of runs, with varying times, people, models and tags."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Model
from django.db.models.signals import pre_save

from refinement.demo.stories import DemoCall, Story
from refinement.engine.safeguards import kinship
from refinement.execution.steps.record_values import check_rows
from refinement.models import (
    AuditEntry,
    BlindReading,
    Call,
    CheckResult,
    Comment,
    Decision,
    Event,
    EventKind,
    HumanScore,
    Instruction,
    Notice,
    Project,
    ReviewRequest,
    Round,
    Rubric,
    RubricVersion,
    Run,
    RunStatus,
    RunTag,
    Suite,
    SuiteVersion,
    Thread,
    User,
    Verdict,
)

BATCH = 250
ARCHIVED = 0.03
GOING = 12  # this many of the newest runs, or 1 %, may be unfinished
# Workers ignore runs that wake in the future. There is no model for demo runs.
NEVER = timedelta(days=3_650)
TAGS = ("docs", "release", "website", "customer", "night", "long", "checked", "to-discuss")
MODELS = (
    ("qwen3:14b", "gemma3:27b"),
    ("qwen3:14b", "qwen3:14b"),
    ("llama3.1:8b", "gemma3:27b"),
    ("mistral-small:24b", "gemma3:27b"),
    ("qwen3:4b", "qwen3:32b"),
    ("gemma3:12b", "llama3.3:70b"),
)
WITH_TIMES: tuple[type[Model], ...] = (
    Run, Round, Verdict, Event, Instruction, Thread, Comment, HumanScore, BlindReading, Decision,
    ReviewRequest, Notice, AuditEntry, Suite, SuiteVersion, Rubric, RubricVersion,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cast:
    """The stories and people that runs are made from."""

    project: Project
    people: Sequence[User]
    finished: Sequence[tuple[RubricVersion, Story]]
    unfinished: Sequence[tuple[RubricVersion, Story]]

    def named(self, name: str) -> User:
        return next(person for person in self.people if person.name == name)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A run's row and its story."""

    run: Run
    story: Story


@contextmanager
def explicit_times() -> Iterator[list[Any]]:
    """Turns off automatic timestamps, so that rows can be created with past times. Gives their fields."""
    stamped = [
        stamp for model in WITH_TIMES for stamp in model._meta.fields if getattr(stamp, "auto_now_add", False)
    ]
    for stamp in stamped:
        stamp.auto_now_add = False  # type: ignore[attr-defined]
    try:
        yield stamped
    finally:
        for stamp in stamped:
            stamp.auto_now_add = True  # type: ignore[attr-defined]


@contextmanager
def created_at(moment: datetime) -> Iterator[None]:
    """Saves rows as if at that moment, where a service creates them."""

    def stamp(sender: type[Model], instance: Model, **_: object) -> None:
        for field in stamped:
            if field.model is sender:
                setattr(instance, field.name, moment)

    with explicit_times() as stamped:
        pre_save.connect(stamp, weak=False)
        try:
            yield
        finally:
            pre_save.disconnect(stamp)


def runs_write(
    cast: Cast, count: int, rng: random.Random, *, until: datetime, days: float, calls: bool
) -> Iterator[int]:
    """Writes runs, oldest first. Yields the number written after each batch."""
    apart = timedelta(days=days) / max(count, 1)
    with explicit_times():
        for start in range(0, count, BATCH):
            numbers = range(start, min(start + BATCH, count))
            moments = [until - apart * (count - number) for number in numbers]
            batch = [
                drawn(cast, moment, rng, going=number >= count - max(GOING, count // 100))
                for number, moment in zip(numbers, moments, strict=True)
            ]
            batch_write(cast, batch, rng, calls=calls)
            yield numbers.stop


def drawn(cast: Cast, moment: datetime, rng: random.Random, *, going: bool) -> Drawn:
    """A run with a random story, created at that moment. It may be unfinished only if `going`."""
    version, story = rng.choice(cast.unfinished if going and rng.random() < 0.5 else cast.finished)
    producer, judge = rng.choice(MODELS)
    kin = kinship(producer, judge) if story.rubric.criteria else None
    values, ending = story.run_values, story.ending
    archived = "outcome" in ending and rng.random() < ARCHIVED
    run = Run(
        project=cast.project,
        rubric_version=version,
        rubric_id=version.rubric_id,
        created_by=rng.choice(cast.people),
        created_at=moment,
        started_at=None if ending["status"] == RunStatus.QUEUED else moment + timedelta(seconds=1),
        archived_at=moment + timedelta(days=1) if archived else None,
        nonce=f"{rng.getrandbits(48):012x}",
        producer_endpoint="ollama",
        producer_model=producer,
        judge_endpoint="ollama",
        judge_model=judge,
        kinship=kin.value if kin else "",
        **values,
        **ending,
    )
    took = timedelta(seconds=float(values["model_seconds"]))
    run.woken_at = moment if run.is_finished else moment + NEVER
    if run.is_finished:
        run.finished_at = moment + took + timedelta(seconds=2)
    if run.status == RunStatus.WAITING:
        run.next_try_at = moment + timedelta(minutes=2)
    if run.status == RunStatus.RUNNING:
        run.lease_owner, run.lease_until = "demonstration", moment + NEVER
    return Drawn(run, story)


@transaction.atomic
def batch_write(cast: Cast, batch: list[Drawn], rng: random.Random, *, calls: bool) -> None:
    """Writes all rows of a batch of runs."""
    Run.objects.bulk_create([entry.run for entry in batch])
    instructions = Instruction.objects.bulk_create(
        [row for entry in batch for row in instruction_rows(cast, entry)]
    )
    numbers = {(row.run_id, row.used_in_round or 0): row.pk for row in instructions}
    rounds = Round.objects.bulk_create([row for entry in batch for row in round_rows(cast, entry, numbers)])
    by_place = {(row.run_id, row.number): row for row in rounds}
    Verdict.objects.bulk_create([row for entry in batch for row in verdict_rows(entry, by_place)])
    CheckResult.objects.bulk_create([row for entry in batch for row in result_rows(entry, by_place)])
    RunTag.objects.bulk_create([row for entry in batch for row in tag_rows(cast, entry, rng)])
    if calls:
        Call.objects.bulk_create([row for entry in batch for row in call_rows(entry)])
        Event.objects.bulk_create([row for entry in batch for row in event_rows(entry)])


def instruction_rows(cast: Cast, entry: Drawn) -> Iterator[Instruction]:
    """The instructions from people, used by the rounds written with them."""
    for values in entry.story.rounds:
        for instruction in (values["feedback"] or {}).get("instructions", ()):
            yield Instruction(
                run=entry.run, author=cast.named(instruction["author"]),
                author_name=instruction["author"], text=instruction["text"],
                created_at=entry.run.created_at, used_in_round=values["number"],
            )  # fmt: skip


def round_rows(cast: Cast, entry: Drawn, instruction_ids: Mapping[tuple[int, int], int]) -> Iterator[Round]:
    moment = entry.run.created_at
    for values in entry.story.rounds:
        own: dict[str, Any] = {}
        if "judged_at" in values:
            own["judged_at"] = moment + timedelta(seconds=30 * values["number"])
        if name := values.get("author_name"):
            own["author"] = cast.named(name)
        if instructions := (values["feedback"] or {}).get("instructions"):
            number = instruction_ids[entry.run.pk, values["number"]]
            own["feedback"] = values["feedback"] | {
                "instructions": [each | {"id": number} for each in instructions]
            }
        yield Round(run=entry.run, created_at=moment, **{**values, **own})


def verdict_rows(entry: Drawn, rounds: dict[tuple[int, int], Round]) -> Iterator[Verdict]:
    for number, values in entry.story.verdicts.items():
        judged = rounds[entry.run.pk, number]
        fields = {**values, "judge": entry.run.judge_model}
        yield Verdict(round=judged, created_at=judged.judged_at or judged.created_at, **fields)


def result_rows(entry: Drawn, rounds: dict[tuple[int, int], Round]) -> Iterator[CheckResult]:
    for assessed in entry.story.history.assessed:
        if assessed.assessment is not None:
            yield from check_rows(rounds[entry.run.pk, assessed.number].pk, assessed.assessment)


def tag_rows(cast: Cast, entry: Drawn, rng: random.Random) -> Iterator[RunTag]:
    for name in rng.sample(TAGS, rng.choice((0, 0, 1, 1, 2))):
        yield RunTag(run=entry.run, project=cast.project, name=name)


def call_rows(entry: Drawn) -> Iterator[Call]:
    run, moment = entry.run, entry.run.created_at
    for call in entry.story.calls:
        ended = moment + timedelta(seconds=float(call.seconds))
        yield Call(run=run, started_at=moment, finished_at=ended, **call_values(run, call))
        moment = ended


def call_values(run: Run, call: DemoCall) -> dict[str, Any]:
    judge = call.role == "judge"
    return {
        "round_number": call.round,
        "role": call.role,
        "purpose": "score" if judge else "draft" if call.round == 1 else "revise",
        "attempt": call.attempt,
        "endpoint": "ollama",
        "model": run.judge_model if judge else run.producer_model,
        "messages": [{"role": each.role, "content": each.content} for each in call.prompt.messages],
        "options": {"temperature": 0.0 if judge else 0.7},
        "seen": call.seen,
        "withheld": call.withheld,
        "reply": call.reply,
        "finish_reason": "stop",
        "prompt_tokens": call.prompt_tokens,
        "completion_tokens": call.reply_tokens,
        "seconds": call.seconds,
        "rung": "strict" if judge and not call.complaint else "",
        "complaint": call.complaint,
    }


def event_rows(entry: Drawn) -> Iterator[Event]:
    run = entry.run
    actor = run.created_by.display_name if run.created_by else "command line"
    yield Event(run=run, kind=EventKind.QUEUED, at=run.created_at, actor=actor, user=run.created_by)
    for values in entry.story.rounds:
        if "judged_at" in values:
            at = run.created_at + timedelta(seconds=30 * values["number"])
            data = {"round": values["number"], "composite": str(round(values["composite"], 6))}
            yield Event(run=run, kind=EventKind.JUDGED, at=at, actor="worker", data=data)
    if run.finished_at:
        ending = {"outcome": run.outcome, "reason": run.stop_reason, "why": run.why}
        yield Event(run=run, kind=EventKind.STOPPED, at=run.finished_at, actor="worker", data=ending)
