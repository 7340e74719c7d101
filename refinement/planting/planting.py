"""Makes the copies of a text."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from refinement.planting.criteria import criterion_for
from refinement.planting.documents import Document
from refinement.planting.kinds import Edit, Effect
from refinement.planting.language import is_english
from refinement.planting.table import EDITS


@dataclass(frozen=True, slots=True)
class Copy:
    """A changed copy of a text. `criterion` is the key of the one that it should hit; empty when unsure."""

    edit: str
    effect: Effect
    text: str
    change: str
    criterion: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """An edit that the text offers nothing for."""

    edit: str
    reason: str


@dataclass(frozen=True, slots=True)
class Planted:
    copies: tuple[Copy, ...]
    skipped: tuple[Skipped, ...]


NOT_ENGLISH = "it is not in English"


def plant(
    text: str,
    *,
    seed: int = 0,
    edits: Iterable[str] = tuple(EDITS),
    criteria: Sequence[tuple[str, str]] = (),
) -> Planted:
    """One copy of the text for each edit that fits it, and why the others do not.

    `criteria` are the keys and names of the rubric. The same text and seed always give the same copies.
    Raises KeyError for an unknown edit.
    """
    document, english = Document(text), is_english(text)
    copies, skipped = [], []
    for edit in (EDITS[key] for key in edits):
        if edit.english and not english:
            skipped.append(Skipped(edit.key, NOT_ENGLISH))
        elif copy := _copy(edit, document, seed, criteria):
            copies.append(copy)
        else:
            skipped.append(Skipped(edit.key, edit.nothing))
    return Planted(tuple(copies), tuple(skipped))


def _copy(edit: Edit, document: Document, seed: int, criteria: Sequence[tuple[str, str]]) -> Copy | None:
    digest = hashlib.sha256(document.text.encode("utf-8", "replace")).hexdigest()
    made = edit.make(document, Random(f"{seed}:{edit.key}:{digest}"))  # noqa: S311  repeatable, not a secret
    if made is None or made.text.strip() == document.text.strip():
        return None
    criterion = criterion_for(edit.criteria, criteria) if edit.effect is Effect.SPOILED else ""
    return Copy(edit.key, edit.effect, made.text, made.change, criterion)
