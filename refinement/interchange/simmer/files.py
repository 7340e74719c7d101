"""Sorts the files of a Simmer folder by name."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from refinement.interchange.imports.found import Note, Notes, SourceFile, listed, quoted, text_of
from refinement.interchange.simmer.names import READ_FILES, TRAJECTORY, Kind, Place, place_of
from refinement.interchange.simmer.table import MOST_ITERATION


@dataclass(slots=True)
class Folder:
    """The contents of a Simmer folder."""

    name: str
    notes: list[Note] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)  # by file name
    candidates: dict[int, str] = field(default_factory=dict)
    judgments: dict[int, tuple[str, str]] = field(default_factory=dict)  # file name and text
    evaluations: dict[int, str] = field(default_factory=dict)
    asis: dict[int, str] = field(default_factory=dict)
    briefs: list[tuple[str, str]] = field(default_factory=list)  # file name and text
    trajectory: str = ""
    trajectory_name: str = TRAJECTORY
    result: str | None = None
    result_name: str = ""

    def path(self, base: str) -> str:
        """The path of a file in the folder, for notes."""
        return f"{self.name.rstrip('/')}/{base}" if self.name else base

    def note(self, base: str, why: str, line: int = 0, text: str = "") -> None:
        self.notes.append(Note(self.path(base), line, quoted(text), why))


def sorted_files(folder_name: str, files: Sequence[SourceFile]) -> Folder:
    folder = Folder(folder_name)
    ignored: list[str] = []
    many = _folders_with_several(folder_name, files)
    for place_folder, count in many.items():
        folder.note(place_folder, f"A candidate of {count} files; only single files are imported.")
    for file in sorted(files, key=lambda file: file.name):
        base = file.name[len(folder_name) :].lstrip("/") if folder_name else file.name
        place = place_of(file.name)
        if base.rpartition("/")[0] in many and place.kind is Kind.CANDIDATE:
            continue
        if place.kind is Kind.OTHER or place.folder != folder_name:
            ignored.append(base)
            continue
        notes = Notes(file.name)
        text = text_of(file, notes)
        if text is not None:
            folder.texts[base] = text
            _sort(folder, base, place, text, notes)
        folder.notes += notes.found
    _note_ignored(folder, ignored)
    return folder


def _folders_with_several(folder_name: str, files: Sequence[SourceFile]) -> dict[str, int]:
    """The folders of an iteration with more than one candidate file, and how many they have."""
    counts: Counter[str] = Counter()
    for file in files:
        inner = file.name[len(folder_name) :].lstrip("/").rpartition("/")[0]
        place = place_of(file.name)
        if inner and place.kind is Kind.CANDIDATE and place.folder == folder_name:
            counts[inner] += 1
    return {inner: count for inner, count in sorted(counts.items()) if count > 1}


def _note_ignored(folder: Folder, ignored: list[str]) -> None:
    if len(ignored) == 1:
        folder.note(ignored[0], f"This file is ignored. Supported files are {READ_FILES}.")
    elif ignored:
        why = f"{len(ignored)} files are ignored. Supported files are {READ_FILES}."
        folder.notes.append(Note(folder.name or "the files", 0, quoted(listed(ignored)), why))


def _sort(folder: Folder, base: str, place: Place, text: str, notes: Notes) -> None:
    if place.number is not None:
        _sort_iteration(folder, base, place, text, notes)
    elif place.kind is Kind.TRAJECTORY:
        folder.trajectory, folder.trajectory_name = text, base
    elif place.kind is Kind.BRIEF:
        folder.briefs.append((base, text))
    elif folder.result is None:
        folder.result, folder.result_name = text, base
    else:
        notes.add(0, "", f"{folder.result_name} is the result; this file is ignored.")


def _sort_iteration(folder: Folder, base: str, place: Place, text: str, notes: Notes) -> None:
    number = place.number or 0
    held = _held(folder, place.kind)
    if number > MOST_ITERATION:
        notes.add(0, "", f"Iteration numbers must be from 0 to {MOST_ITERATION}; this file is ignored.")
    elif not text.strip():
        notes.add(0, "", "The file is empty.")
    elif number in held:
        notes.add(0, "", f"Iteration {number} has another {place.kind}; this file is ignored.")
    elif place.kind is Kind.JUDGMENT:
        folder.judgments[number] = (base, text)
    else:
        held[number] = text


def _held(folder: Folder, kind: Kind) -> dict[int, str]:
    return {
        Kind.CANDIDATE: folder.candidates,
        Kind.EVALUATION: folder.evaluations,
        Kind.ASI: folder.asis,
        Kind.JUDGMENT: {number: text for number, (_, text) in folder.judgments.items()},
    }[kind]
