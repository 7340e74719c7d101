"""Keeps a run's ledger, and takes people's corrections to it."""

import logging
from dataclasses import asdict
from functools import partial

from django.core.exceptions import ValidationError
from django.db import Error as AnyDatabaseError
from django.db import IntegrityError, transaction

from refinement.engine.codec import rubric_from_json
from refinement.ledger import corrected, counted
from refinement.models import FeedbackCorrection, FeedbackFate, FeedbackKind, Run, RunLedger, RunStatus, User
from refinement.selectors.projects.lists import NotFound
from refinement.selectors.runs.ledger import (
    concluded,
    correction_version,
    entry_of,
    entry_values,
    growth_values,
    ledger_values,
    steps_of,
)
from refinement.services.audit import audit_record
from refinement.services.runs.lifecycle import locked

log = logging.getLogger("wiggum.ledger")
SWEPT_RUNS = 500  # of the newest, that are looked at for a missing ledger
SWEPT_AT_ONCE = 20


class CorrectionConflict(Exception):
    """Another person has corrected the same feedback since the page was opened. The message says how."""


def ledger_store(run: Run) -> None:
    """Work out the run's ledger from its rounds, and keep it with its counts."""
    rubric = rubric_from_json(run.snapshot)
    steps = steps_of(run, rubric)
    entries = concluded(run, steps)
    grown = growth_values(run, rubric, steps)
    values = {
        "rubric_id": run.rubric_id,
        "covers": sum(step.judged for step in steps),
        "entries": [entry_values(entry) for entry in entries],
        "growth": grown,
        **asdict(counted(corrected(entries, corrections_of(run)))),
    }
    RunLedger.objects.bulk_create(
        [RunLedger(run=run, **values)],
        update_conflicts=True,
        unique_fields=["run"],
        update_fields=list(values),
    )


def corrections_of(run: Run) -> dict[tuple[int, str, int], str]:
    rows = FeedbackCorrection.objects.filter(run=run)
    return {(row.round_number, row.kind, row.position): row.fate for row in rows}


def ledger_store_later(run: Run) -> None:
    """Keep the ledger once the current transaction, which ends the run, is committed.

    `run` is the row as the transaction stores it. If the process is killed in between, `ledgers_sweep` does
    it; until then pages work it out themselves.
    """
    if run.rounds_judged:
        transaction.on_commit(partial(_store_quietly, run), robust=True)


def _store_quietly(run: Run) -> None:
    try:
        ledger_store(run)
    except AnyDatabaseError as error:
        log.warning("run=%s: cannot keep its ledger: %s", run.pk, error)


def ledgers_sweep() -> int:
    """Keep the ledgers that are missing among the newest finished runs; returns how many were."""
    newest = Run.objects.order_by("-pk").values_list("pk", flat=True)[:SWEPT_RUNS]
    finished = Run.objects.filter(pk__in=list(newest), status=RunStatus.FINISHED, rounds_judged__gt=0)
    missing = list(finished.filter(ledger__isnull=True)[:SWEPT_AT_ONCE])
    for run in missing:
        _store_quietly(run)
    return len(missing)


@transaction.atomic
def feedback_correct(
    *, run: Run, number: int, kind: str, position: int, fate: str, version: str, user: User
) -> None:
    """Record a person's word on what became of a piece of feedback; an empty `fate` takes it back.

    `version` is the correction's that the person has seen, "0" for none. Raises CorrectionConflict if there
    is another one by now, NotFound if the run has no such feedback, and ValidationError.
    """
    if kind not in FeedbackKind.values or (fate and fate not in FeedbackFate.values):
        raise ValidationError("Choose what became of it.")
    run = locked(run)
    entries, _ = ledger_values(run, rubric_from_json(run.snapshot))
    computed = {(entry["round"], entry["kind"], entry["position"]): entry["fate"] for entry in entries}
    key = (number, kind, position)
    if key not in computed:
        raise NotFound("This run has no such feedback, or no revision was asked for it.")
    wanted = {"run": run, "round_number": number, "kind": kind, "position": position}
    row = FeedbackCorrection.objects.filter(**wanted).first()
    before = row.fate if row else computed[key]
    if correction_version(row) != version and before != fate:
        _refuse(row)
    _write(row, wanted, fate, user)
    audit_record(
        action="feedback.correct",
        object_type="run",
        object_id=run.pk,
        project=run.project,
        user=user,
        before={"round": number, "kind": kind, "position": position, "fate": before},
        after={"round": number, "kind": kind, "position": position, "fate": fate or computed[key]},
    )
    _recount(run)


def _refuse(row: FeedbackCorrection | None) -> None:
    if row is None:
        raise CorrectionConflict("Somebody took the correction back while you were reading.")
    label = FeedbackFate(row.fate).label.lower()
    raise CorrectionConflict(f"{row.author_name} set it to “{label}” while you were reading.")


def _write(row: FeedbackCorrection | None, wanted: dict[str, object], fate: str, user: User) -> None:
    if not fate:
        if row is not None:
            row.delete()
        return
    if row is None:
        row = FeedbackCorrection(**wanted)
    row.fate, row.author, row.author_name = fate, user, user.display_name[:120]
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        _refuse(FeedbackCorrection.objects.filter(**wanted).first())


def _recount(run: Run) -> None:
    """Bring the stored counts up to date. A run that continues gets them at its end."""
    stored = RunLedger.objects.filter(run=run).first()
    if stored is None:
        return
    entries = corrected([entry_of(values) for values in stored.entries], corrections_of(run))
    RunLedger.objects.filter(run=run).update(**asdict(counted(entries)))
