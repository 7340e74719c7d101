"""A candidate for reading: rendered, or line by line with anchors. Bounded."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from django.utils.safestring import SafeString

from refinement.rendering import markdown

MOST_CHARS = 200_000
MOST_LINES = 5_000
MOST_LINE_CHARS = 5_000
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class TextLine:
    number: int
    text: str
    missing: int  # characters of a very long line that are not shown
    marks: tuple[str, ...]  # findings on this line
    threads: tuple[int, ...] = ()  # comment threads that start on this line


@dataclass(frozen=True, slots=True)
class CandidateText:
    """`rendered` or `lines`. `missing` counts characters not shown; `why_raw` says why it is not rendered."""

    rendered: SafeString | None
    lines: tuple[TextLine, ...]
    missing: int
    why_raw: str


def candidate_text(
    text: str,
    *,
    raw: bool,
    marks: Iterable[tuple[int, str]] = (),
    threads: Iterable[tuple[int, int]] = (),
) -> CandidateText:
    """The text rendered if requested and possible, else as lines."""
    rendered = None if raw else markdown(text)
    if rendered is not None:
        return CandidateText(rendered, (), 0, "")
    why = "" if raw else "This text is too large or too deeply nested to render. It is shown as plain text."
    return CandidateText(None, *_lines(text, by_line(marks), by_line(threads)), why)


def by_line(pairs: Iterable[tuple[int, Found]]) -> dict[int, tuple[Found, ...]]:
    found: dict[int, tuple[Found, ...]] = {}
    for number, entry in pairs:
        found[number] = (*found.get(number, ()), entry)
    return found


def _lines(
    text: str, marks: dict[int, tuple[str, ...]], threads: dict[int, tuple[int, ...]]
) -> tuple[tuple[TextLine, ...], int]:
    """The lines that fit on a page, and how many characters do not."""
    lines: list[TextLine] = []
    start = shown = 0
    while start < len(text) and len(lines) < MOST_LINES and shown < MOST_CHARS:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        part = text[start : min(end, start + MOST_LINE_CHARS)]
        number = len(lines) + 1
        missing = end - start - len(part)
        beside = marks.get(number, ()), threads.get(number, ())
        lines.append(TextLine(number, part.rstrip("\r"), missing, *beside))
        shown += len(part) + 1
        start = end + 1
    return tuple(lines), max(0, len(text) - start)
