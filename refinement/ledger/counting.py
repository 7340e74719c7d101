"""Counts a ledger's entries, with people's corrections."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from refinement.ledger.types import SUGGESTION, Entry


@dataclass(frozen=True, slots=True)
class Counts:
    """Feedback that a judged revision was asked for, what was followed, and what of that raised the score."""

    suggestions: int = 0
    suggestions_followed: int = 0
    suggestions_raised: int = 0
    items: int = 0
    items_followed: int = 0
    items_raised: int = 0


def counted(entries: Iterable[Entry]) -> Counts:
    """The counts of the entries whose revision was judged."""
    known = [entry for entry in entries if entry.fate]
    return Counts(*_three([entry for entry in known if entry.item.kind == SUGGESTION]), *_three(known))


def _three(entries: list[Entry]) -> tuple[int, int, int]:
    followed = [entry for entry in entries if entry.followed]
    return len(entries), len(followed), sum(entry.raised is True for entry in followed)


def corrected(entries: Iterable[Entry], fates: Mapping[tuple[int, str, int], str]) -> list[Entry]:
    """The entries with people's fates, by the item's key, in place of the computed ones."""
    return [_with_fate(entry, fates.get(entry.item.key, entry.fate)) for entry in entries]


def _with_fate(entry: Entry, fate: str) -> Entry:
    return Entry(entry.item, fate, entry.why, entry.revision, entry.raised)
