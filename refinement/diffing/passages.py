"""Compares two short texts by words, including whitespace, for form fields."""

import re
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from refinement.diffing.comparing import MOST_PAIRS, common_ends

# How much of an unchanged passage is shown next to a change.
NEARBY_CHARS = 200

# Texts with a smaller share of equal text count as changed completely.
LEAST_ALIKE = 0.3

_WORDS = re.compile(r"\s+|\d+(?:[.,]\d+)+|\w+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Segment:
    """A passage on one side. `kind` is same, changed or left_out (the text is then a note)."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class WordDiff:
    before: tuple[Segment, ...]
    after: tuple[Segment, ...]


def word_diff(before: str, after: str) -> WordDiff:
    """Both texts as passages. Long unchanged stretches are left out."""
    for pieces in (_WORDS.findall, _LINES.findall):
        left, right = pieces(before), pieces(after)
        same = sum(common_ends(left, right))
        if (len(left) - same) * (len(right) - same) <= MOST_PAIRS:
            return _aligned(left, right)
    return _aligned([before], [after])


def _aligned(left: list[str], right: list[str]) -> WordDiff:
    pairs = [
        ("".join(left[code.src_start : code.src_end]), "".join(right[code.dest_start : code.dest_end]))
        for code in Levenshtein.opcodes(left, right)
    ]
    alike = _alike(pairs)
    before: list[Segment] = []
    after: list[Segment] = []
    for position, (was, now) in enumerate(pairs):
        # A space between two changed words is part of the change.
        joint = not was.strip() and 0 < position < len(pairs) - 1
        kind = "same" if was == now and alike and not joint else "changed"
        _extend(before, kind, was)
        _extend(after, kind, now)
    return WordDiff(_shortened(before), _shortened(after))


def _alike(pairs: list[tuple[str, str]]) -> bool:
    whole = sum(max(len(was), len(now)) for was, now in pairs)
    return sum(len(was) for was, now in pairs if was == now) >= LEAST_ALIKE * whole


def _extend(segments: list[Segment], kind: str, text: str) -> None:
    """Appends the text, merged with the last passage if it has the same kind."""
    if not text:
        return
    if segments and segments[-1].kind == kind:
        segments[-1] = Segment(kind, segments[-1].text + text)
    else:
        segments.append(Segment(kind, text))


def _shortened(segments: list[Segment]) -> tuple[Segment, ...]:
    """The passages without the middle of long unchanged ones."""
    shown: list[Segment] = []
    last = len(segments) - 1
    for position, segment in enumerate(segments):
        if segment.kind != "same" or len(segment.text) <= 3 * NEARBY_CHARS:
            shown.append(segment)
            continue
        start = segment.text[:NEARBY_CHARS] if position else ""
        end = segment.text[-NEARBY_CHARS:] if position != last else ""
        left_out = len(segment.text) - len(start) - len(end)
        note = Segment("left_out", f"{left_out:,} characters unchanged")
        shown += [part for part in (Segment("same", start), note, Segment("same", end)) if part.text]
    return tuple(shown)
