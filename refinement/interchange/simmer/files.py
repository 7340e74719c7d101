"""Sorts the files of a Simmer folder by name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from refinement.interchange.imports.found import Note, Notes, SourceFile, quoted, text_of
from refinement.interchange.simmer.table import MOST_ITERATION

ITERATION_FILE = re.compile(
    r"iteration-(\d{1,6})-(candidate|judgment|judgement)\.(?:md|txt)\Z", re.IGNORECASE | re.ASCII
)
HEADING = re.compile(r"#{1,6}\s+(.*\S)")
UNTITLED = "Simmer run"
TRAJECTORY, RESULT = "trajectory.md", "result.md"
READ_FILES = f"{TRAJECTORY}, iteration-N-candidate.md, iteration-N-judgment.md and {RESULT}"


@dataclass(slots=True)
class Folder:
    """The contents of a Simmer folder."""

    name: str
    notes: list[Note] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)  # by file name
    candidates: dict[int, str] = field(default_factory=dict)
    judgments: dict[int, tuple[str, str]] = field(default_factory=dict)  # file name and text
    trajectory: str = ""
    result: str | None = None

    def path(self, base: str) -> str:
        """The path of a file in the folder, for notes."""
        return f"{self.name.rstrip('/')}/{base}" if self.name else base

    def note(self, base: str, why: str, line: int = 0, text: str = "") -> None:
        self.notes.append(Note(self.path(base), line, quoted(text), why))


def is_simmer_name(name: str) -> bool:
    """Whether a file with this name belongs to a Simmer folder."""
    base = name.rsplit("/", 1)[-1]
    return base.lower() in (TRAJECTORY, RESULT) or bool(ITERATION_FILE.match(base))


def sorted_files(folder_name: str, files: Sequence[SourceFile]) -> Folder:
    folder = Folder(folder_name)
    for file in files:
        base = file.name.rsplit("/", 1)[-1]
        notes = Notes(file.name)
        match = ITERATION_FILE.match(base)
        known = match or base.lower() in (TRAJECTORY, RESULT)
        text = text_of(file, notes) if known else None
        if not known:
            notes.add(0, "", f"This file is ignored. Supported files are {READ_FILES}.")
        elif text is not None:
            folder.texts[base] = text
            _sort(folder, base, match, text, notes)
        folder.notes += notes.found
    return folder


def _sort(folder: Folder, base: str, match: re.Match[str] | None, text: str, notes: Notes) -> None:
    if match is None:
        if base.lower() == TRAJECTORY:
            folder.trajectory = text
        else:
            folder.result = text
        return
    number = int(match[1])
    if number > MOST_ITERATION:
        notes.add(0, "", f"Iteration numbers must be from 0 to {MOST_ITERATION}; this file is ignored.")
    elif not text.strip():
        notes.add(0, "", "The file is empty.")
    elif match[2].lower() == "candidate":
        folder.candidates[number] = text
    else:
        folder.judgments[number] = (base, text)


def title_of(folder: Folder) -> str:
    """The text after the dash in the trajectory's heading, or the folder's name."""
    heading = next(
        (match[1] for line in folder.trajectory.split("\n") if (match := HEADING.match(line.strip()))), ""
    )
    after = re.split(r"\s[—–-]\s", heading, maxsplit=1)
    name = folder.name.rstrip("/").rsplit("/", 1)[-1]
    return (after[1] if len(after) > 1 else name or heading).strip()[:160] or UNTITLED
