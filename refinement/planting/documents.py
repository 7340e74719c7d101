"""A text as blocks of Markdown: which of its parts are prose that an edit may change.

Code, addresses, tags and the like are protected. The parser looks at each line once, so that a text of
megabytes takes little time; it knows what matters for edits and not every corner of Markdown.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

MOST_EDITED = 200_000  # characters from the start that are searched for something to edit

FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})")
HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+|$)")
ITEM = re.compile(r"[ \t]*([-*+•]|\d{1,9}[.)])[ \t]+(?=\S)")
QUOTE = re.compile(r" {0,3}> ?")
REFERENCE = re.compile(r" {0,3}\[[^\]\n]{1,200}\]:")
RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
HTML = re.compile(r" {0,3}</?[A-Za-z!]")
INDENTED = re.compile(r"(?: {4}|\t)")
# Repeats are bounded, so that no text takes more than linear time.
PROTECTED = re.compile(
    r"""
    (?<!`)(`{1,3})(?!`)[^`\n]{1,2000}(?<!`)\1(?!`)  # code
    | \$\$[^$]{1,2000}\$\$ | \\\([^\n]{1,500}?\\\)  # formulas
    | \]\([^()\s]{0,2000}(?:\([^()\s]{0,500}\)[^()\s]{0,500})?(?:[ ]"[^"\n]{0,300}")?\)  # a link's target
    | \b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s<>()]{1,2000} | \bwww\.[^\s<>()]{1,2000}
    | (?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}
    | </?[A-Za-z!][^<>\n]{0,500}> | \[\^[^\]\n]{1,100}\] | &\#?\w{1,30};
    """,
    re.VERBOSE,
)
MARKS = (
    *(HEADING, ITEM, QUOTE, REFERENCE, RULE, UNDERLINE, HTML),
    re.compile(r"[|`~#=+\-]|\d{1,9}[.)]"),
)


class Span(NamedTuple):
    """From `start` to before `end` in the text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines of the text, without the last one's line break. `inner` is after marks such as `- `."""

    kind: str  # paragraph, heading, item, table, quote, code, other
    start: int
    inner: int
    end: int

    @property
    def is_prose(self) -> bool:
        return self.kind in ("paragraph", "item", "quote")


@dataclass(frozen=True)
class Document:
    """The text with its blocks. Blocks do not overlap; blank lines are between them."""

    text: str

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return (
            ()
            if self.is_data
            else tuple(takewhile(lambda block: block.end <= self.most, blocks_of(self.text)))
        )

    @cached_property
    def most(self) -> int:
        """Nothing after this place is edited."""
        return min(len(self.text), MOST_EDITED)

    @cached_property
    def is_data(self) -> bool:
        """Whether it is JSON: then prose edits would only break it."""
        if self.text.lstrip()[:1] not in ("{", "["):
            return False
        try:
            json.loads(self.text)
        except (ValueError, RecursionError):
            return False
        return True

    @cached_property
    def paragraphs(self) -> tuple[Block, ...]:
        return tuple(block for block in self.blocks if block.kind == "paragraph")

    @cached_property
    def protected(self) -> tuple[Span, ...]:
        """Inside prose, headings and tables: code, addresses, formulas and tags."""
        return tuple(
            Span(*found.span())
            for block in self.blocks
            if block.kind not in ("code", "other")
            for found in PROTECTED.finditer(self.text, block.inner, block.end)
        )

    @cached_property
    def _protected_starts(self) -> list[int]:
        return [span.start for span in self.protected]

    def is_free(self, start: int, end: int) -> bool:
        """Whether the place touches nothing that is protected."""
        place = bisect_right(self._protected_starts, max(start, end - 1))
        return not place or self.protected[place - 1].end <= start

    def is_mark(self, place: int) -> bool:
        """Whether a line that began here would look like a heading, an item or the like."""
        start = self.text[place : place + 12]
        return any(mark.match(start) for mark in MARKS)

    def found(self, pattern: re.Pattern[str], kinds: Sequence[str]) -> Iterator[re.Match[str]]:
        """Where the pattern matches in blocks of these kinds, outside what is protected."""
        for block in self.blocks:
            if block.kind in kinds:
                for match in pattern.finditer(self.text, block.inner, block.end):
                    if self.is_free(*match.span()):
                        yield match

    def replaced(self, changes: Sequence[tuple[int, int, str]]) -> str:
        """The text with these places replaced; they must not overlap."""
        parts, done = [], 0
        for start, end, new in sorted(changes):
            parts += [self.text[done:start], new]
            done = end
        return "".join([*parts, self.text[done:]])


PROSE = ("paragraph", "item", "quote")


@dataclass(slots=True)
class _Reader:
    """The block that is being read."""

    fence: str = ""
    kind: str = ""
    start: int = 0
    inner: int = 0
    end: int = 0

    def open(self, kind: str, start: int, inner: int, end: int) -> None:
        self.kind, self.start, self.inner, self.end = kind, start, inner, end

    def close(self) -> Iterator[Block]:
        if self.kind:
            yield Block(self.kind, self.start, min(self.inner, self.end), self.end)
        self.kind = ""


def blocks_of(text: str) -> Iterator[Block]:
    """The text's blocks in order."""
    reader, start = _Reader(), 0
    for line in text.split("\n"):
        yield from _line(reader, line, start)
        start += len(line) + 1
    yield from reader.close()


def _line(reader: _Reader, line: str, start: int) -> Iterator[Block]:
    end = start + len(line)
    mark = FENCE.match(line)
    if reader.fence:
        reader.end = end
        if (
            mark
            and line.strip("> \t").startswith(reader.fence)
            and not line.strip("> \t").strip(reader.fence[0])
        ):
            reader.fence = ""
            yield from reader.close()
        return
    if mark:
        yield from reader.close()
        reader.open("code", start, start, end)
        reader.fence = mark.group(1)
    elif not line.strip():
        yield from reader.close()
    elif reader.kind in PROSE and _goes_on(reader.kind, line):
        reader.end = end
        if reader.kind == "paragraph" and UNDERLINE.match(line):
            reader.kind = "heading"
            yield from reader.close()
    else:
        yield from _new_block(reader, line, start, end)


def _goes_on(kind: str, line: str) -> bool:
    """Whether the line belongs to the paragraph, item or quotation before it."""
    if kind == "paragraph" and UNDERLINE.match(line):
        return True
    marks = (HEADING, ITEM, QUOTE, REFERENCE, RULE, HTML)
    return not any(mark.match(line) for mark in marks) and not line.lstrip().startswith("|")


def _new_block(reader: _Reader, line: str, start: int, end: int) -> Iterator[Block]:
    kind, inner = _kind_of(reader.kind, line)
    if kind == reader.kind and kind in ("table", "other", "code"):
        reader.end = end
        return
    yield from reader.close()
    reader.open(kind, start, start + inner, end)
    if kind == "heading":
        yield from reader.close()


def _kind_of(before: str, line: str) -> tuple[str, int]:
    """The kind of the block that starts with the line, and the length of its mark."""
    if line.lstrip().startswith("|"):
        return "table", 0
    if RULE.match(line) or REFERENCE.match(line) or HTML.match(line):
        return "other", 0
    for kind, mark in (("heading", HEADING), ("item", ITEM), ("quote", QUOTE)):
        if found := mark.match(line):
            return kind, found.end()
    if INDENTED.match(line) and before in ("", "code"):
        return "code", 0
    return "paragraph", len(line) - len(line.lstrip())
