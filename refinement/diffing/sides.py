"""A side-by-side view of a comparison, with unchanged text folded."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from refinement.diffing.comparing import Piece

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
MOVED = ("moved_in", "moved_out", "copied")  # only their first line says so
LEFT_KINDS = frozenset({"same", "deleted", "moved_out", "moved_out_on"})
RIGHT_KINDS = frozenset({"same", "inserted", "moved_in", "moved_in_on", "copied", "copied_on"})
NEARBY_CHARS = 160  # how much of an unchanged passage is shown next to a change
MOST_FOLDED_CHARS = 20_000  # longer folds cannot be expanded; the page links to the full text


@dataclass(frozen=True, slots=True)
class Row:
    """Matching lines, or a fold across both columns."""

    left: tuple[Piece, ...] = ()
    right: tuple[Piece, ...] = ()
    folded: str = ""
    folded_chars: int = 0


def folded(pieces: Sequence[Piece]) -> list[Piece]:
    """The passages, with the middle of long unchanged ones as pieces of kind `folded`.

    They are cut at line ends, or between words in long lines.
    """
    shown: list[Piece] = []
    last = len(pieces) - 1
    for position, piece in enumerate(pieces):
        if piece.kind != "same":
            shown.append(piece)
            continue
        head = _head(piece.text) if position else 0
        tail = _tail(piece.text) if position != last else len(piece.text)
        if tail - head < 2 * NEARBY_CHARS:
            shown.append(piece)
            continue
        parts = (("same", piece.text[:head]), ("folded", piece.text[head:tail]), ("same", piece.text[tail:]))
        shown += [Piece(kind, text) for kind, text in parts if text]
    return shown


def _head(text: str) -> int:
    """The end of the visible start of an unchanged passage."""
    end = text.find("\n", NEARBY_CHARS // 2, NEARBY_CHARS * 2)
    if end < 0:
        end = text.rfind(" ", NEARBY_CHARS // 2, NEARBY_CHARS)
    return min(NEARBY_CHARS, len(text)) if end < 0 else end + 1


def _tail(text: str) -> int:
    """The start of the visible end of an unchanged passage."""
    start = text.rfind("\n", max(0, len(text) - NEARBY_CHARS * 2), max(0, len(text) - NEARBY_CHARS // 2))
    if start < 0:
        start = text.find(" ", max(0, len(text) - NEARBY_CHARS), max(0, len(text) - NEARBY_CHARS // 2))
    return max(0, len(text) - NEARBY_CHARS) if start < 0 else start + 1


def side_by_side(pieces: Sequence[Piece]) -> list[Row]:
    """The rows of the two columns, from passages returned by `folded`."""
    rows: list[Row] = []
    left: list[list[Piece]] = [[]]
    right: list[list[Piece]] = [[]]
    for piece in pieces:
        if piece.kind == "folded":
            rows += _flushed(left, right)
            left, right = [[]], [[]]
            rows.append(Row(folded=piece.text, folded_chars=len(piece.text)))
            continue
        for line in _lines(piece):
            if line.kind == "same" and not left[-1] and not right[-1]:
                rows += _flushed(left, right)
                left, right = [[]], [[]]
            _write(left, line, LEFT_KINDS)
            _write(right, line, RIGHT_KINDS)
            if line.kind == "same" and line.text.endswith("\n"):
                rows += _flushed(left, right)
                left, right = [[]], [[]]
    return rows + list(_flushed(left, right))


def _write(lines: list[list[Piece]], piece: Piece, kinds: frozenset[str]) -> None:
    if piece.kind not in kinds:
        return
    lines[-1].append(piece)
    if piece.text.endswith("\n"):
        lines.append([])


def _lines(piece: Piece) -> Iterator[Piece]:
    for number, line in enumerate(_LINE.findall(piece.text)):
        goes_on = "_on" if number and piece.kind in MOVED else ""
        yield Piece(piece.kind + goes_on, line, piece.change)


def _flushed(left: list[list[Piece]], right: list[list[Piece]]) -> Iterator[Row]:
    nothing: list[Piece] = []
    for before, after in zip_longest(left, right, fillvalue=nothing):
        if before or after:
            yield Row(tuple(before), tuple(after))
