"""Finds what a judge quotes from the sources, and where it is in them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

LEAST_CHARS = 20  # shorter passages occur by chance
MOST_CHARS = 1_000
MOST_PASSAGES = 40  # looked up for one page

# Short passages match as well: otherwise the text between two of them would look like one.
_QUOTED = re.compile(
    rf'"([^"]{{1,{MOST_CHARS}}})"'
    rf"|“([^“”]{{1,{MOST_CHARS}}})”"
    rf"|„([^„“”]{{1,{MOST_CHARS}}})[“”]"
    rf"|«([^«»]{{1,{MOST_CHARS}}})»"
    rf"|‘([^‘’]{{1,{MOST_CHARS}}})’"
    rf"|`([^`]{{1,{MOST_CHARS}}})`"
    rf"|(?<!\w)'([^']{{1,{MOST_CHARS}}})'(?!\w)"
)
_EDGES = " \t\n.,;:!?…"


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A span of characters in one of a run's sources, counted from 1."""

    source: int
    start: int
    end: int


def quotations(text: str) -> Iterator[str]:
    """The passages between quotation marks that are long enough to look up, without marks at their ends."""
    for match in _QUOTED.finditer(text):
        passage = next(group for group in match.groups() if group is not None).strip(_EDGES)
        if len(passage) >= LEAST_CHARS:
            yield passage


def places_of(texts: Iterable[str], sources: Sequence[str]) -> dict[str, SourcePlace]:
    """The places of the quoted passages in the sources, by passage.

    A passage is found if it occurs word for word; whitespace may differ.
    """
    passages = list(dict.fromkeys(passage for text in texts for passage in quotations(text)))
    places = ((passage, _place_of(passage, sources)) for passage in passages[:MOST_PASSAGES])
    return {passage: place for passage, place in places if place is not None}


def _place_of(passage: str, sources: Sequence[str]) -> SourcePlace | None:
    words = passage.split()
    longest = max(words, key=len)
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    for number, text in enumerate(sources, start=1):
        # A plain search for one word is fast and rules out most texts.
        if longest in text and (match := pattern.search(text)):
            return SourcePlace(number, match.start(), match.end())
    return None


def linked_pieces(text: str, links: Mapping[str, str]) -> list[tuple[str, str]]:
    """The text in pieces: quoted passages with their link, and the text between them without one."""
    known = [passage for passage in links if passage in text]
    if not known:
        return [(text, "")]
    longest_first = sorted(known, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    pieces: list[tuple[str, str]] = []
    start = 0
    for match in pattern.finditer(text):
        pieces += [(text[start : match.start()], ""), (match.group(), links[match.group()])]
        start = match.end()
    return [piece for piece in (*pieces, (text[start:], "")) if piece[0]]
