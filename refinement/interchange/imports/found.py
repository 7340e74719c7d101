"""The results of import readers: runs, and notes about problems."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from refinement.interchange.imports.document import RunDocument

QUOTED_CHARS = 200
MOST_NAMED = 12  # places or texts listed in one note
MOST_DEPTH = 60


class SourceFile(NamedTuple):
    """An uploaded file. The name includes folders, separated by `/`."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Note:
    """Something that was not imported or was changed: where, the text, and why."""

    file: str
    line: int  # 0 is the whole file
    text: str
    why: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        place = f"{self.file}, line {self.line}" if self.line else self.file
        text = f": {self.text}" if self.text else ""
        return f"{place}{text}: {self.why}"


class Notes:
    """Collects notes while a file is read."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[Note] = []

    def add(self, line: int, text: str, why: str) -> None:
        self.found.append(Note(self.file, line, quoted(text), why))


def grouped(notes: Sequence[Note]) -> list[Note]:
    """One note for each file and reason, with all places: twenty estimates in a table are one note."""
    kinds: dict[tuple[str, str], list[Note]] = {}
    for note in sorted(notes, key=lambda note: (note.file, note.line)):
        kinds.setdefault((note.file, note.why), []).append(note)
    return [same[0] if len(same) == 1 else _merged(same) for same in kinds.values()]


def _merged(notes: list[Note]) -> Note:
    first = notes[0]
    texts = list(dict.fromkeys(note.text for note in notes if note.text))
    numbers = list(dict.fromkeys(note.line for note in notes if note.line))
    why = first.why if len(numbers) < 2 else f"{first.why} Lines {listed(numbers)}."
    return Note(first.file, first.line, quoted(listed(texts)), why)


def listed(values: Sequence[object]) -> str:
    """The values as `1, 2 and 3`, at most MOST_NAMED of them."""
    names = [str(value) for value in values]
    if len(names) > MOST_NAMED:
        names = [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED:,} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


@dataclass(slots=True)
class FoundRun:
    """One run in a file. Without a document it cannot be imported, and the notes say why."""

    source: str
    name: str
    title: str
    key: str = ""
    document: RunDocument | None = None
    notes: list[Note] = field(default_factory=list)
    stated: dict[str, Any] = field(default_factory=dict)


def quoted(text: str) -> str:
    """A short quote from a file, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= QUOTED_CHARS else f"{line[: QUOTED_CHARS - 1]}…"


def too_deep(value: object) -> bool:
    """Whether lists and records are nested too deeply, checked without recursion."""
    layer = [value]
    for _ in range(MOST_DEPTH):
        layer = [
            inner
            for entry in layer
            if isinstance(entry, (dict, list))
            for inner in (entry.values() if isinstance(entry, dict) else entry)
        ]
        if not layer:
            return False
    return True


def key_of(source: str, content: object) -> str:
    """A hash of the content that ignores key order and file name."""
    plain = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return hashlib.sha256(f"{source}\n{plain}".encode()).hexdigest()


def text_of(file: SourceFile, notes: Notes) -> str | None:
    """The file as text; None with a note if it is not UTF-8."""
    try:
        return file.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = file.data.count(b"\n", 0, error.start) + 1
        notes.add(line, "", "The file is not UTF-8 text. Save it as UTF-8 and import it again.")
        return None
