"""A comparison by line, so that headings of a Markdown text look like headings."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from refinement.diffing import Request
from refinement.diffing.sides import MOVED

BULLET = re.compile(r"^([ \t]*)[-*+](?=[ \t])")
STYLED = re.compile(r"\*\*([^*\n]+)\*\*|`([^`\n]+)`")
HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+")
FENCE = re.compile(r"[ \t]{0,3}(```|~~~)")
FOLDED = "folded"


@dataclass(frozen=True, slots=True)
class ShownPiece:
    """A passage of the comparison. The last one of a change carries the request it matches."""

    kind: str
    text: str
    change: int = 0
    asked: Request | None = None
    last: bool = False
    tail: str = ""  # trailing whitespace
    folded_chars: int = 0

    @property
    def runs(self) -> tuple[tuple[str, str], ...]:
        """Its text as plain, strong and code parts, without the signs that mark them."""
        found, start = [], 0
        for styled in STYLED.finditer(self.text):
            found.append(("", self.text[start : styled.start()]))
            found.append(("strong", styled[1]) if styled[1] else ("code", styled[2]))
            start = styled.end()
        return tuple((style, text) for style, text in (*found, ("", self.text[start:])) if text)


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of the comparison. `kind` is heading, text, code, blank or folded, which holds many lines."""

    kind: str
    pieces: tuple[ShownPiece, ...]


def diff_lines(pieces: Sequence[ShownPiece]) -> tuple[DiffLine, ...]:
    """The passages by line, without the signs that make a line a heading."""
    lines: list[DiffLine] = []
    in_code = False
    for group in _grouped(pieces):
        if group and group[0].kind == FOLDED:
            lines.append(DiffLine(FOLDED, group))
            continue
        start = next((piece.text for piece in group if piece.text.strip()), "")
        fence = bool(FENCE.match(start))
        if not in_code and not fence and HEADING.match(start):
            group = tuple(replace(piece, text=HEADING.sub("", piece.text, count=1)) for piece in group)
            lines.append(DiffLine("heading", group))
        else:
            if not in_code and BULLET.match(start):
                group = tuple(replace(piece, text=BULLET.sub(r"\1•", piece.text)) for piece in group)
            lines.append(DiffLine("code" if in_code or fence else "text" if start else "blank", group))
        in_code ^= fence
    return tuple(lines)


def _grouped(pieces: Iterable[ShownPiece]) -> Iterator[tuple[ShownPiece, ...]]:
    line: list[ShownPiece] = []
    for piece in pieces:
        if piece.kind == FOLDED:
            if line:
                yield tuple(line)
            line = []
            yield (piece,)
            continue
        for ends, part in _parts(piece):
            line.append(part)
            if ends:
                yield tuple(line)
                line = []
    if line:
        yield tuple(line)


def _parts(piece: ShownPiece) -> Iterator[tuple[bool, ShownPiece]]:
    """The piece cut at the ends of lines, and whether a line ends after each part."""
    *before, last = piece.text.split("\n")
    for number, text in enumerate(before):
        yield True, replace(_on(piece, number), text=text, last=False, asked=None, tail="")
    *tails, rest = piece.tail.split("\n")
    for number, tail in enumerate(tails):
        ended = replace(_on(piece, len(before)), text=last, tail=tail)
        yield True, ShownPiece("blank", tail) if number else ended
    if not tails:
        yield False, replace(_on(piece, len(before)), text=last)
    elif rest:
        yield False, ShownPiece("blank", rest)


def _on(piece: ShownPiece, number: int) -> ShownPiece:
    """The piece as one that goes on: only its first line says that it moved."""
    return replace(piece, kind=f"{piece.kind}_on") if number and piece.kind in MOVED else piece
