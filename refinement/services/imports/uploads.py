"""Import runs from files, for the command line, the page and the API.

    report = import_paths(["simmer/", "runs.jsonl", "run-12.json"], project=project, user=user, dry_run=True)
    report = import_files([SourceFile("runs.jsonl", data)], project=project, user=user)

Both read all files first, then write each run in a separate transaction. The same run is imported once,
whatever its file is called. A changed file is a new run, and its entry names the earlier run from the same
file (`beside`). A `dry_run` writes nothing. `on_entry(entry)` is called after each run, for progress.

`BadUpload` (a ValueError) is raised before anything is written: too large, too many files, or an unsafe zip.
Problems inside files are in `report.notes` and in the `notes` of the entries; `report.as_dict()` is the
report as JSON.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from refinement.interchange.imports.archives import BadUpload
from refinement.interchange.imports.folders import files_at
from refinement.interchange.imports.found import FoundRun, Note, SourceFile
from refinement.interchange.imports.reading import opened, runs_in
from refinement.models import Project, RunImport, User
from refinement.services.imports.writing import AlreadyHere, imported_before, run_import

__all__ = ["BadUpload", "ImportEntry", "ImportReport", "SourceFile", "import_files", "import_paths"]

NEW, HERE, REFUSED = "new", "here", "refused"
EntryCallback = Callable[["ImportEntry"], None]


@dataclass(frozen=True, slots=True)
class ImportEntry:
    """The result for one run: new, already imported, or refused."""

    name: str
    source: str
    title: str
    state: str
    run: int | None = None  # the new or existing run
    beside: int | None = None  # an earlier run from the same file with other content
    rounds: int = 0
    scored: int = 0
    best: str = ""
    rubric: str = ""
    contradictions: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name, "source": self.source, "title": self.title, "state": self.state,
            "run": self.run, "beside": self.beside, "rounds": self.rounds, "scored": self.scored,
            "best": self.best or None, "rubric": self.rubric, "contradictions": list(self.contradictions),
            "notes": [note.as_dict() for note in self.notes],
        }  # fmt: skip


@dataclass(slots=True)
class ImportReport:
    """All runs of the files, and notes that belong to no run."""

    dry_run: bool
    entries: list[ImportEntry] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def count(self, state: str) -> int:
        return sum(entry.state == state for entry in self.entries)

    @property
    def all_notes(self) -> list[Note]:
        return [*self.notes, *(note for entry in self.entries for note in entry.notes)]

    def as_dict(self) -> dict[str, Any]:
        return {
            "dry_run": self.dry_run,
            "new": self.count(NEW),
            "here": self.count(HERE),
            "refused": self.count(REFUSED),
            "runs": [entry.as_dict() for entry in self.entries],
            "notes": [note.as_dict() for note in self.notes],
        }


def import_paths(
    paths: Sequence[str | os.PathLike[str]],
    *,
    project: Project,
    user: User | None = None,
    dry_run: bool = False,
    weights: Mapping[str, Decimal] | None = None,
    on_entry: EntryCallback | None = None,
) -> ImportReport:
    """Import the runs in these files and folders. A folder may be a Simmer folder or contain several."""
    files = [file for path in paths for file in files_at(Path(path))]
    return import_files(
        files, project=project, user=user, dry_run=dry_run, weights=weights, on_entry=on_entry
    )


def import_files(
    files: Sequence[SourceFile],
    *,
    project: Project,
    user: User | None = None,
    dry_run: bool = False,
    most_runs: int | None = None,
    weights: Mapping[str, Decimal] | None = None,
    on_entry: EntryCallback | None = None,
) -> ImportReport:
    """Import the runs in these files. Raises BadUpload, also for more than `most_runs` runs.

    `weights` are those of the dimensions of runs.jsonl lines that do not have any.
    """
    read = opened(files)
    if most_runs is not None:
        refuse_many(read, most_runs)
    report = ImportReport(dry_run)
    for found in runs_in(read, report.notes, weights):
        entry = import_one(found, project=project, user=user, dry_run=dry_run)
        report.entries.append(entry)
        if on_entry is not None:
            on_entry(entry)
    return report


def refuse_many(files: Sequence[SourceFile], most: int) -> None:
    for count, _ in enumerate(runs_in(files, []), 1):
        if count > most:
            raise BadUpload(f"These files contain more than {most:,} runs. Import them in parts.")


def import_one(found: FoundRun, *, project: Project, user: User | None, dry_run: bool) -> ImportEntry:
    """Import one run. If it is refused, the entry's notes say why."""
    if found.document is None:
        return entry_of(found, REFUSED)
    here = imported_before(project, found)
    if here is not None:
        return entry_of(found, HERE, run=here)
    beside = earlier_from(project, found.name)
    if dry_run:
        return entry_of(found, NEW, beside=beside)
    try:
        run = run_import(project=project, found=found, user=user)
    except AlreadyHere as already:
        return entry_of(found, HERE, run=already.run)
    return entry_of(found, NEW, run=run.pk, beside=beside)


def earlier_from(project: Project, name: str) -> int | None:
    earlier = RunImport.objects.filter(project=project, name=name[:400]).order_by("-run_id")
    return earlier.values_list("run_id", flat=True).first()


def entry_of(found: FoundRun, state: str, **more: int | None) -> ImportEntry:
    document = found.document
    values: dict[str, Any] = dict(more)
    if document is not None:
        best = document.run.best
        values |= {
            "rounds": len(document.rounds),
            "scored": document.run.rounds_judged,
            "best": "" if best is None else f"{round(best, 2):f}",
            "rubric": str(document.run.snapshot.get("name", "")),
        }
    return ImportEntry(
        name=found.name,
        source=found.source,
        title=found.title,
        state=state,
        contradictions=tuple(found.stated.get("contradictions", ())),
        notes=tuple(found.notes),
        **values,
    )
