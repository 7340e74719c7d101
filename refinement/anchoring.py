"""Finds a quoted passage again in a text that may have changed since; no Django.

A quotation is kept as it stands in the source text. What people select may be the rendered text, in which
Markdown's signs are missing: both are compared by their letters and digits alone, "folded".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from rapidfuzz import fuzz

MOST_QUOTE = 2_000  # characters of a quotation
AROUND = 64  # characters that are kept before and after it
ALIKE = 86  # of 100: from here on a changed passage is taken for the one that was quoted
LEAST_ALIKE = 12  # letters: anything shorter is like too much
MOST_ALIKE_TEXT = 400_000  # characters; a longer text is searched for the words as they were alone
MOST_PLACES = 200  # equal passages that are weighed against one another
# What a rendered text does not show: fences, numbers of a list, and where a link leads.
UNSEEN = re.compile(
    r"^[ \t]*(?:`{3,}|~{3,})[^\n]*$|^[ \t]*\d{1,9}[.)](?=[ \t])|(?<=\])\([^()\s]*(?:\s+\"[^\"\n]*\")?\)", re.M
)


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words of a text, a little of what stood around them, and where they began."""

    text: str
    before: str = ""
    after: str = ""
    start: int | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """Where a quotation stands in a text; `same` unless only something like it was found."""

    start: int
    end: int
    same: bool = True


@dataclass(frozen=True, slots=True)
class Folded:
    """A text's letters and digits, and where each of them stands in it."""

    text: str
    places: tuple[int, ...]

    def passage(self, start: int, end: int, *, same: bool = True) -> Passage:
        return Passage(self.places[start], self.places[end - 1] + 1, same)


def passage_of(quotation: Quotation, text: str) -> Passage | None:
    """Where the quotation stands: where it was, else elsewhere, else differently spaced, else much alike."""
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
    """The passage as it is kept, to be found again in later texts."""
    return Quotation(
        text=text[passage.start : passage.end],
        before=text[max(0, passage.start - AROUND) : passage.start],
        after=text[passage.end : passage.end + AROUND],
        start=passage.start,
    )


def line_of(passage: Passage, text: str) -> int:
    """The line on which it begins, from 1."""
    return text.count("\n", 0, passage.start) + 1


def fold(text: str) -> Folded:
    """Letters and digits alone, without what is not shown when the text is rendered."""
    letters: list[str] = []
    places: list[int] = []
    start = 0
    for unseen in UNSEEN.finditer(text):
        _keep(text, start, unseen.start(), letters, places)
        start = unseen.end()
    _keep(text, start, len(text), letters, places)
    return Folded("".join(letters), tuple(places))


def _keep(text: str, start: int, end: int, letters: list[str], places: list[int]) -> None:
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
    """The stretch that is most like the words, if it is like them enough."""
    if len(words) < LEAST_ALIKE or not text.text:
        return None
    found = fuzz.partial_ratio_alignment(words, text.text, score_cutoff=ALIKE)
    if found is None or found.score < ALIKE or found.dest_end <= found.dest_start:
        return None
    # Of a text shorter than the words, only a part of the words was compared.
    if (found.dest_end - found.dest_start) * 100 < len(words) * ALIKE:
        return None
    return text.passage(found.dest_start, found.dest_end, same=False)


def _places(words: str, text: str) -> Iterator[int]:
    start = text.find(words)
    while start >= 0:
        yield start
        start = text.find(words, start + 1)


def _fitness(quotation: Quotation, text: str, start: int, length: int) -> tuple[int, int]:
    """How much of the surroundings is the same, signs aside, then how near it is to where it was."""
    end = start + length
    before, there = fold(quotation.before).text, fold(text[max(0, start - 2 * AROUND) : start]).text
    after, then = fold(quotation.after).text, fold(text[end : end + 2 * AROUND]).text
    same = _common(before[::-1], there[::-1]) + _common(after, then)
    return same, 0 if quotation.start is None else -abs(start - quotation.start)


def _common(one: str, other: str) -> int:
    """How many characters they begin with alike."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
