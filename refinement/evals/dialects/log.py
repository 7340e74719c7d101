"""Collects what a reader refuses and what it ignores, with file and line."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from refinement.evals.types import Ignored
from refinement.interchange.imports.fields import Missing, Notes, brief
from refinement.interchange.rubrics.yaml_reading import BadFile, Fields

CLOSE = 0.8
MOST_REFUSALS = 500


@dataclass(frozen=True, slots=True, order=True)
class Refusal:
    """Why a file cannot run. `file` is the eval file itself, or one that it includes."""

    file: Path
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


class Log(Notes):
    """The notes of one eval file and the files that it includes."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self._refused: dict[Refusal, None] = {}
        self._ignored: dict[tuple[str, str], dict[tuple[Path, int], None]] = {}

    def add(self, line: int, message: str) -> Missing:
        """Refuses something in the current file. The same refusal is kept once."""
        if len(self._refused) < MOST_REFUSALS:
            self._refused.setdefault(Refusal(self.path, line, message))
        return super().add(line, message)

    def add_all(self, bad: BadFile) -> None:
        for problem in bad.problems:
            self.add(problem.line, problem.message)

    def ignore(self, line: int, what: str, reason: str) -> None:
        """Counts something that is left out because it does not change a result: once for each place."""
        self._ignored.setdefault((what, reason), {}).setdefault((self.path, line))

    @contextmanager
    def inside(self, path: Path) -> Iterator[None]:
        """Refusals belong to this file meanwhile."""
        before, self.path = self.path, path
        try:
            yield
        finally:
            self.path = before

    @property
    def refused(self) -> list[Refusal]:
        return list(self._refused)

    @property
    def ignored(self) -> tuple[Ignored, ...]:
        """One entry for each kind of thing, with the number of places and the line of the first one."""
        found = [
            Ignored(what, reason, next(line for _, line in places), len(places))
            for (what, reason), places in self._ignored.items()
        ]
        return tuple(sorted(found, key=lambda entry: (entry.line, entry.what)))


@dataclass(frozen=True, slots=True)
class Keys:
    """What a reader does with the keys of one kind of record. Reasons are sentences for people."""

    understood: frozenset[str]
    carried: frozenset[str] = frozenset()  # informational: kept or left out without a word
    ignored: Mapping[str, str] | None = None
    refused: Mapping[str, str] | None = None

    @property
    def known(self) -> frozenset[str]:
        return self.understood | self.carried | set(self.ignored or {}) | set(self.refused or {})


def words(text: str) -> frozenset[str]:
    """The words of a long constant."""
    return frozenset(text.split())


def both(first: Keys, second: Keys) -> Keys:
    """The keys of both; what the first says comes first."""
    return Keys(
        first.understood | second.understood,
        first.carried | second.carried,
        {**(second.ignored or {}), **(first.ignored or {})},
        {**(second.refused or {}), **(first.refused or {})},
    )


def sort_keys(log: Log, record: Fields, name: str, keys: Keys, kind: str = "") -> None:
    """Says what happens to each key that is not understood. A misspelt key is refused.

    `kind` is what all records of this kind are called, so that what is ignored is counted together.
    """
    for key, line in record.lines.items():
        if key in keys.understood or key in keys.carried:
            continue
        if keys.refused and key in keys.refused:
            log.add(line, f"{key} in {name} is not supported: {keys.refused[key]}")
        elif keys.ignored and key in keys.ignored:
            log.ignore(line, f"{key} in {kind or name}", keys.ignored[key])
        elif close := get_close_matches(key, keys.understood, 1, CLOSE):
            log.add(line, f"Unknown key {brief(key)} in {name}. Do you mean {close[0]}?")
        else:
            log.ignore(line, f"{key} in {kind or name}", "Unknown key.")
