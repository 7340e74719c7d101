"""What `wiggum labels` needs of an instance."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypedDict


class LabelSetLine(TypedDict):
    """A label set in a list."""

    id: int
    name: str
    rubric: str  # slug@version
    texts: int
    labels: int
    people: int
    raters_wanted: int
    archived: bool


@dataclass(frozen=True, slots=True)
class LabelFile:
    """A file's path as it was given, and its text."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class LabelImportWanted:
    """An import: files, the set and rubric, and the models of raters that are judges."""

    name: str
    rubric: str
    ratings: LabelFile
    items: LabelFile | None = None
    judges: Mapping[str, str] = field(default_factory=dict)
    dry_run: bool = False


class LabelSets(Protocol):
    """A project's label sets. Failures raise the errors of `refinement.cli.exits`."""

    def label_sets(self, *, archived: bool) -> list[LabelSetLine]: ...

    def imported(self, wanted: LabelImportWanted) -> dict[str, Any]: ...

    def exported(self, name: str, what: str, form: str) -> Iterator[str]: ...
