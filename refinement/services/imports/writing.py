"""Writes one imported run in one transaction."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Manager
from django.utils import timezone

from refinement.engine.codec import rubric_to_json
from refinement.engine.types import Rubric
from refinement.execution.events import actor_name
from refinement.interchange.imports.document import (
    BoardPart,
    Part,
    RepeatPart,
    RoundPart,
    RunDocument,
    RunPart,
    ValidationPart,
)
from refinement.interchange.imports.document_reading import whole_rubric
from refinement.interchange.imports.foreign_runs import EPOCH
from refinement.interchange.imports.found import FoundRun
from refinement.judging.sources import SourceText
from refinement.models import (
    BoardVerdict,
    Call,
    CheckResult,
    Decision,
    EvaluatorRepeat,
    EvaluatorResult,
    Event,
    FeedbackCorrection,
    HumanScore,
    Instruction,
    PanelJudge,
    Project,
    Round,
    Run,
    RunImport,
    RunStatus,
    User,
    ValidationResult,
    Verdict,
)
from refinement.services.audit import audit_record
from refinement.services.imports.rubrics import version_for_import
from refinement.services.reviews.people_gap import people_gap_store
from refinement.services.runs.creating import tags_set, title_of
from refinement.services.runs.sources import sources_create
from refinement.texts import storable

MOST_NOTES = 500
OWN_FIELDS = (
    "task_type", "batch", "started_at", "archived_at", "kinship", "outcome", "stop_reason", "why", "r1",
    "best", "last", "improvement", "best_round", "passed_in_round", "rounds_judged", "trajectory",
    "signal_rounds", "penalty_rounds", "cut_rounds", "prompt_tokens", "completion_tokens", "calls_made",
    "model_seconds", "extended_after", "escalated_after", "plateau_accepted", "other_contexts",
    "smallest_difference", "same_text_moved",
    "failure_role", "failure_message", "task", "seed", "calibration",
)  # fmt: skip


class AlreadyHere(Exception):
    """The run was imported before. Nothing was written."""

    def __init__(self, run: int) -> None:
        super().__init__(f"This run was already imported as run {run}.")
        self.run = run


def imported_before(project: Project, found: FoundRun) -> int | None:
    """The existing run that this one was imported as, or exported from."""
    here = RunImport.objects.filter(project=project, key=found.key).values_list("run_id", flat=True).first()
    part = found.document.run if found.document else None
    if here is None and part and part.id is not None and part.nonce:
        own = Run.objects.filter(project=project, pk=part.id, nonce=part.nonce, source__isnull=True)
        here = own.values_list("pk", flat=True).first()
    return here


@transaction.atomic
def run_import(*, project: Project, found: FoundRun, user: User | None = None) -> Run:
    """Create the run with all its rows. Raises AlreadyHere."""
    # Locks the project, so that the same run is not imported twice at once.
    Project.objects.select_for_update().get(pk=project.pk)
    if (here := imported_before(project, found)) is not None:
        raise AlreadyHere(here)
    assert found.document is not None
    document = RunDocument.model_validate(plain(found.document.model_dump()))
    definition = whole_rubric(document)
    version = version_for_import(project=project, definition=definition, user=user)
    run = run_row(document, definition, source=found.source)
    run.project, run.rubric_version, run.rubric_id = project, version, version.rubric_id
    run.save(force_insert=True)
    tags_set(run=run, names=document.run.tags)
    import_record(run, found, document.run, user)
    sources_write(run, document, definition)
    rounds = rounds_write(run, document)
    boards_write(run, document, rounds)
    people_write(run, document, rounds)
    Call.objects.bulk_create([Call(run=run, **fields_of(entry)) for entry in document.calls], batch_size=50)
    events = Event.objects.bulk_create(
        [Event(run=run, **fields_of(entry, "at")) for entry in document.events], batch_size=500
    )
    keep_times(Event.objects, "at", events, document.events)
    return run


def run_row(document: RunDocument, definition: Rubric, *, source: str) -> Run:
    """The run's row: finished, with the values of the file."""
    part, now = document.run, timezone.now()
    snapshot = rubric_to_json(definition)
    models = {
        f"{role}_{name}": getattr(getattr(part, role), name)
        for role in ("producer", "judge")
        for name in ("endpoint", "model", "family", "context")
    }
    last = document.decisions[-1] if document.decisions else None
    in_force = last is not None and last.kind != "withdrawn"
    return Run(
        **{name: getattr(part, name) for name in OWN_FIELDS},
        **models,
        clerk_endpoint=part.clerk.endpoint,
        clerk_model=part.clerk.model,
        source=source,
        title=part.title or (title_of(part.task) if part.task.strip() else ""),
        snapshot={**snapshot, "calibration_text": "", "calibration_scores": {}},
        nonce=part.nonce or secrets.token_hex(6),
        status=RunStatus.FINISHED,
        finished_at=part.finished_at or part.started_at or part.created_at or now,
        decision=last.kind if last and in_force else None,
        chosen_round=last.round_number if last and in_force else None,
        woken_at=now,
    )


def import_record(run: Run, found: FoundRun, part: RunPart, user: User | None) -> None:
    earlier = part.imported or {}
    notes = [note.as_dict() for note in found.notes]
    stated = plain({**(earlier.get("stated") or {}), **found.stated, "notes": notes[:MOST_NOTES]})
    if len(notes) > MOST_NOTES:
        stated["more_notes"] = len(notes) - MOST_NOTES
    origin: dict[str, Any] = {
        "rubric": part.rubric.model_dump(),
        "rerun_of": part.rerun_of,
        "id": part.id,
        "experiment": part.experiment,
    }
    RunImport.objects.create(
        run=run, project=run.project, key=found.key, name=storable(found.name)[:400], by=user,
        by_name=actor_name(user)[:120], launched_by=part.created_by, launched_at=part.created_at,
        stated=stated, kept=plain({**origin, "imported": part.imported}),
    )  # fmt: skip
    audit_record(
        action="run.import",
        object_type="run",
        object_id=run.pk,
        project=run.project,
        user=user,
        after={"from": storable(found.name)[:400], "kind": found.source},
    )


def sources_write(run: Run, document: RunDocument, definition: Rubric) -> None:
    """Create the sources. How much of them prompts contained follows from the rubric."""
    sources = [SourceText(part.name, part.text) for part in document.sources]
    sources_create(run=run, sources=sources, limit=definition.policy.source_limit_chars)


def rounds_write(run: Run, document: RunDocument) -> dict[int, Round]:
    """Create the rounds with verdicts and checks, and return them by number."""
    rows = Round.objects.bulk_create([round_row(run, entry) for entry in document.rounds], batch_size=20)
    keep_times(Round.objects, "created_at", rows, document.rounds)
    verdicts, parts = [], []
    for row, entry in zip(rows, document.rounds, strict=True):
        for part in entry.verdicts:
            values = fields_of(part, "created_at", "scores")
            scores = [{**fields_of(score), "score": f"{score.score:f}"} for score in part.scores]
            verdicts.append(Verdict(round=row, scores=scores, **values))
            parts.append(part)
    keep_times(Verdict.objects, "created_at", Verdict.objects.bulk_create(verdicts, batch_size=50), parts)
    CheckResult.objects.bulk_create(
        [
            CheckResult(round=row, **fields_of(check))
            for row, entry in zip(rows, document.rounds, strict=True)
            for check in entry.checks
        ],
        batch_size=100,
    )
    evaluated = [(row, entry.evaluator) for row, entry in zip(rows, document.rounds, strict=True)]
    results = EvaluatorResult.objects.bulk_create(
        [EvaluatorResult(round=row, **fields_of(part, "at")) for row, part in evaluated if part],
        batch_size=20,
    )
    keep_times(EvaluatorResult.objects, "at", results, [part for _, part in evaluated if part])
    for row, entry in zip(rows, document.rounds, strict=True):
        commands_write(EvaluatorRepeat.objects, row, entry.evaluator_repeats)
        commands_write(ValidationResult.objects, row, entry.validations)
    return {row.number: row for row in rows}


def commands_write(
    manager: Manager[Any], row: Round, parts: Sequence[RepeatPart] | Sequence[ValidationPart]
) -> None:
    """Create the rows of a round's repeats or validations."""
    made = [manager.model(round=row, **fields_of(part, "at")) for part in parts]
    keep_times(manager, "at", manager.bulk_create(made), parts)


def round_row(run: Run, entry: RoundPart) -> Round:
    values = fields_of(
        entry,
        "created_at",
        "verdicts",
        "board",
        "spread",
        "summary",
        "checks",
        "evaluator",
        "evaluator_repeats",
        "validations",
        "scores",
        "penalties",
        "candidate_chars",
    )
    if values["judged_at"] == EPOCH:
        values["judged_at"] = run.finished_at
    return Round(
        run=run,
        candidate_chars=len(entry.candidate),
        scores=score_texts(entry.scores),
        spread=score_texts(entry.spread),
        summary=fields_of(entry.summary) if entry.summary else None,
        penalties=[{**fields_of(part), "points": f"{part.points:f}"} for part in entry.penalties],
        **values,
    )


def score_texts(scores: Mapping[str, Decimal] | None) -> dict[str, str] | None:
    return None if scores is None else {key: f"{score:f}" for key, score in scores.items()}


def boards_write(run: Run, document: RunDocument, rounds: dict[int, Round]) -> None:
    """Create the panel, and each judge's answers."""
    panel = PanelJudge.objects.bulk_create(
        PanelJudge(run=run, **fields_of(part)) for part in document.run.panel
    )
    judges = {row.seat: row for row in panel}
    parts = [(rounds[entry.number], part) for entry in document.rounds for part in entry.board]
    rows = BoardVerdict.objects.bulk_create(
        [answer_row(row, judges[part.seat], part) for row, part in parts], batch_size=50
    )
    keep_times(BoardVerdict.objects, "scored_at", rows, [part for _, part in parts])


def answer_row(row: Round, judge: PanelJudge, part: BoardPart) -> BoardVerdict:
    return BoardVerdict(
        round=row,
        judge=judge,
        scores=[{**fields_of(score), "score": f"{score.score:f}"} for score in part.scores],
        stances=None
        if part.stances is None
        else [
            {**fields_of(entry), "stance": entry.stance.value, "score": f"{entry.score:f}"}
            for entry in part.stances
        ],
        **fields_of(part, "scores", "stances", "scored_at"),
    )


def people_write(run: Run, document: RunDocument, rounds: dict[int, Round]) -> None:
    """Create what people did. Authors are kept by name, without an account."""
    scores = HumanScore.objects.bulk_create(
        HumanScore(run=run, round=rounds[entry.round], **fields_of(entry, "round", "submitted_at"))
        for entry in document.human_scores
    )
    keep_times(HumanScore.objects, "submitted_at", scores, document.human_scores)
    decisions = Decision.objects.bulk_create(
        Decision(run=run, **fields_of(entry, "at")) for entry in document.decisions
    )
    keep_times(Decision.objects, "at", decisions, document.decisions)
    people_gap_store(run)
    instructions = Instruction.objects.bulk_create(
        Instruction(run=run, **fields_of(entry, "created_at")) for entry in document.instructions
    )
    keep_times(Instruction.objects, "created_at", instructions, document.instructions)
    corrections = FeedbackCorrection.objects.bulk_create(
        FeedbackCorrection(
            run=run, round_number=entry.round, kind=entry.kind, position=entry.position, fate=entry.fate,
            author_name=entry.corrected_by,
        )
        for entry in document.corrections
    )  # fmt: skip
    keep_times(FeedbackCorrection.objects, "corrected_at", corrections, document.corrections)


def keep_times(manager: Manager[Any], name: str, rows: Any, parts: Any) -> None:
    """Replace the current time in new rows with the times from the file."""
    changed = []
    for row, part in zip(rows, parts, strict=True):
        moment: datetime | None = getattr(part, name)
        if moment is not None:
            setattr(row, name, moment)
            changed.append(row)
    manager.bulk_update(changed, [name], batch_size=200)


def fields_of(part: Part, *left_out: str) -> dict[str, Any]:
    """The part's fields without `left_out`."""
    return {name: getattr(part, name) for name in type(part).model_fields if name not in left_out}


def plain(value: Any) -> Any:
    """The value with all texts made storable, at every depth."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {plain(key): plain(entry) for key, entry in value.items()}
    return [plain(entry) for entry in value] if isinstance(value, list) else value
