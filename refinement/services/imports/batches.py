"""Uploads: previewed with a dry run, then imported in parts.

Each request imports runs for a few seconds and the next one continues, so that a page responds quickly. Two
requests at once do no harm.
"""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from itertools import islice
from time import monotonic
from typing import Any

from django.db import transaction
from django.utils import timezone

from refinement.interchange.imports.found import Note, SourceFile
from refinement.interchange.imports.reading import opened, runs_in
from refinement.interchange.runs_jsonl.weights import parsed_weights
from refinement.models import ImportBatch, ImportFile, Project, User
from refinement.services.imports.uploads import (
    HERE,
    NEW,
    REFUSED,
    ImportEntry,
    ImportReport,
    import_files,
    import_one,
)
from refinement.texts import storable

MOST_RUNS = 5_000  # per upload
MOST_NOTES = 300
MOST_SHOWN = 300
SECONDS_A_PART = 2.0
KEPT_FOR = timedelta(days=1)


def batch_open(
    *, project: Project, user: User, files: Sequence[SourceFile], weights: str = ""
) -> ImportBatch:
    """Store the upload with the report of a dry run. Raises BadUpload, and ValueError for bad weights."""
    read, given = opened(files), weights_in(weights)
    report = import_files(read, project=project, user=user, dry_run=True, most_runs=MOST_RUNS, weights=given)
    ImportBatch.objects.filter(created_at__lt=timezone.now() - KEPT_FOR).delete()
    with transaction.atomic():
        batch = ImportBatch.objects.create(
            project=project,
            created_by=user,
            total=len(report.entries),
            report=report_values(report),
            weights=weights,
        )
        ImportFile.objects.bulk_create(
            [
                ImportFile(batch=batch, position=place, name=storable(file.name)[:400], data=file.data)
                for place, file in enumerate(read)
            ],
            batch_size=10,
        )
    return batch


def batch_advance(*, batch: ImportBatch, user: User, seconds: float = SECONDS_A_PART) -> ImportBatch:
    """Import more runs, at least one, until `seconds` have passed or all are done."""
    if batch.finished_at is not None:
        return batch
    until, entries = monotonic() + seconds, []
    files = [SourceFile(row.name, bytes(row.data)) for row in batch.files.all()]
    for found in islice(runs_in(files, [], weights_in(batch.weights)), batch.done, None):
        entries.append(import_one(found, project=batch.project, user=user, dry_run=False))
        if monotonic() >= until:
            break
    return _written(batch, entries)


def weights_in(text: str) -> dict[str, Decimal]:
    return parsed_weights(text) if text else {}


@transaction.atomic
def _written(batch: ImportBatch, entries: list[ImportEntry]) -> ImportBatch:
    """Add this part to the batch, unless another request was faster."""
    began = batch.done
    batch = ImportBatch.objects.select_for_update().get(pk=batch.pk)
    if batch.done != began or batch.finished_at is not None:
        return batch
    batch.done = began + len(entries)
    made = batch.report.setdefault("made", {NEW: 0, HERE: 0, REFUSED: 0})
    shown = batch.report["runs"]
    for place, entry in enumerate(entries, began):
        made[entry.state] += 1
        if place < len(shown):
            shown[place] |= {"state": entry.state, "run": entry.run}
    if batch.done >= batch.total:
        batch.finished_at = timezone.now()
        batch.files.all().delete()
    batch.save(update_fields=["done", "report", "finished_at"])
    return batch


def batch_discard(*, batch: ImportBatch) -> None:
    """Delete the upload. Runs that are already imported stay."""
    batch.delete()


def report_values(report: ImportReport) -> dict[str, Any]:
    """The report for the page, with the number of omitted runs and notes."""
    notes = report.all_notes
    runs = [entry.as_dict() | {"notes": len(entry.notes)} for entry in report.entries[:MOST_SHOWN]]
    return {
        "counts": {state: report.count(state) for state in (NEW, HERE, REFUSED)},
        "runs": [_storable(run) for run in runs],
        "more_runs": len(report.entries) - len(runs),
        "notes": [_storable(note.as_dict()) for note in _refusals_first(report, notes)[:MOST_NOTES]],
        "more_notes": max(0, len(notes) - MOST_NOTES),
    }


def _refusals_first(report: ImportReport, notes: list[Note]) -> list[Note]:
    """Notes of refused runs before all others."""
    first = [note for entry in report.entries if entry.state == REFUSED for note in entry.notes]
    seen = set(map(id, first))
    return [*first, *(note for note in notes if id(note) not in seen)]


def _storable(values: dict[str, Any]) -> dict[str, Any]:
    return {name: storable(value) if isinstance(value, str) else value for name, value in values.items()}
