"""Finds a quoted passage in a text that may have changed. No Django.

Quotations are stored as source text, but people select rendered text without Markdown characters. So both
are compared by letters and digits only ("folded").
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from rapidfuzz import fuzz

MOST_QUOTE = 2_000  # characters of a quotation
AROUND = 64  # characters stored before and after it
ALIKE = 86  # of 100; the similarity from which a changed passage matches
LEAST_ALIKE = 12  # letters; shorter text is similar to too much
MOST_ALIKE_TEXT = 400_000  # characters; longer texts are searched for exact matches only
MOST_PLACES = 200  # equal passages that are compared
# Not visible in rendered text: fences, list numbers and link targets.
UNSEEN = re.compile(
    r"^[ \t]*(?:`{3,}|~{3,})[^\n]*$|^[ \t]*\d{1,9}[.)](?=[ \t])|(?<=\])\([^()\s]*(?:\s+\"[^\"\n]*\")?\)", re.M
)


@dataclass(frozen=True, slots=True)
class Quotation:
    """A quoted text with some context and its start position."""

    text: str
    before: str = ""
    after: str = ""
    start: int | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """The position of a quotation in a text. `same` is False for a similar passage."""

    start: int
    end: int
    same: bool = True


@dataclass(frozen=True, slots=True)
class Folded:
    """The letters and digits of a text, and their positions."""

    text: str
    places: tuple[int, ...]

    def passage(self, start: int, end: int, *, same: bool = True) -> Passage:
        return Passage(self.places[start], self.places[end - 1] + 1, same)


def passage_of(quotation: Quotation, text: str) -> Passage | None:
    """The quotation's position: at its old place, elsewhere, with other spacing, or in similar text."""
    if not quotation.text:
        return None
    start = quotation.start
    if start is not None and text.startswith(quotation.text, start):
        return Passage(start, start + len(quotation.text))
    found = list(islice(_places(quotation.text, text), MOST_PLACES))
    if found:
        start = max(found, key=lambda place: _fitness(quotation, text, place, len(quotation.text)))
        return Passage(start, start + len(quotation.text))
    return _folded_passage(quotation, fold(text), len(text))


def quotation_at(passage: Passage, text: str) -> Quotation:
    """The passage as a quotation to store."""
    return Quotation(
        text=text[passage.start : passage.end],
        before=text[max(0, passage.start - AROUND) : passage.start],
        after=text[passage.end : passage.end + AROUND],
        start=passage.start,
    )


def line_of(passage: Passage, text: str) -> int:
    """The line where the passage starts, from 1."""
    return text.count("\n", 0, passage.start) + 1


def fold(text: str) -> Folded:
    """The letters and digits of the text, without what is not visible when rendered."""
    letters: list[str] = []
    places: list[int] = []
    start = 0
    for unseen in UNSEEN.finditer(text):
        _add_letters(text, start, unseen.start(), letters, places)
        start = unseen.end()
    _add_letters(text, start, len(text), letters, places)
    return Folded("".join(letters), tuple(places))


def _add_letters(text: str, start: int, end: int, letters: list[str], places: list[int]) -> None:
    for place in range(start, end):
        if text[place].isalnum():
            letters.append(text[place])
            places.append(place)


def _folded_passage(quotation: Quotation, text: Folded, length: int) -> Passage | None:
    words = Quotation(
        text=fold(quotation.text).text,
        before=fold(quotation.before).text,
        after=fold(quotation.after).text,
        start=None if quotation.start is None else sum(place < quotation.start for place in text.places),
    )
    if not words.text:
        return None
    found = list(islice(_places(words.text, text.text), MOST_PLACES))
    if found:
        start = max(found, key=lambda place: _fitness(words, text.text, place, len(words.text)))
        return text.passage(start, start + len(words.text))
    return _alike(words.text, text) if length <= MOST_ALIKE_TEXT else None


def _alike(words: str, text: Folded) -> Passage | None:
    """The most similar passage, if it is similar enough."""
    if len(words) < LEAST_ALIKE or not text.text:
        return None
    found = fuzz.partial_ratio_alignment(words, text.text, score_cutoff=ALIKE)
    if found is None or found.score < ALIKE or found.dest_end <= found.dest_start:
        return None
    # If the text is shorter than the words, only a part of the words was compared.
    if (found.dest_end - found.dest_start) * 100 < len(words) * ALIKE:
        return None
    return text.passage(found.dest_start, found.dest_end, same=False)


def _places(words: str, text: str) -> Iterator[int]:
    start = text.find(words)
    while start >= 0:
        yield start
        start = text.find(words, start + 1)


def _fitness(quotation: Quotation, text: str, start: int, length: int) -> tuple[int, int]:
    """A rank: how much of the context is equal, then the distance from the old position."""
    end = start + length
    old_before, new_before = fold(quotation.before).text, fold(text[max(0, start - 2 * AROUND) : start]).text
    old_after, new_after = fold(quotation.after).text, fold(text[end : end + 2 * AROUND]).text
    same = _common(old_before[::-1], new_before[::-1]) + _common(old_after, new_after)
    return same, 0 if quotation.start is None else -abs(start - quotation.start)


def _common(one: str, other: str) -> int:
    """The length of the common prefix."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
