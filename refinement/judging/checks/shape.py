"""Checks on size and structure: length, heading-count."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from refinement.engine.types import Place
from refinement.judging.checks.kinds import (
    NEGATE,
    PASSED,
    CheckKind,
    Finding,
    Parameter,
    Parameters,
    ParameterType,
    count_of,
    negatable,
    range_problems,
)

_WORD = re.compile(r"\S+")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
# A row of dashes below such a line is a horizontal rule, not a heading underline.
_NOT_A_PARAGRAPH = re.compile(r"\s*$| {4}|\t| {0,3}(?:>|[-+*][ \t]|\d{1,9}[.)][ \t]|(?:[-*_][ \t]*){3,}$|\|)")


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    place: Place


def run_length(parameters: Parameters, candidate: str) -> Finding:
    unit = str(parameters["unit"])
    words = list(_WORD.finditer(candidate)) if unit == "words" else []
    total = len(words) if unit == "words" else len(candidate)
    low, high = count_of(parameters, "minimum"), count_of(parameters, "maximum")
    if low is not None and total < low:
        return Finding(False, f"The text has {total:,} {unit}; at least {low:,} are wanted.")
    if high is not None and total > high:
        start = words[high].start() if words else high
        return Finding(
            False,
            f"The text has {total:,} {unit}; at most {high:,} are wanted.",
            Place(start, len(candidate)),
        )
    return PASSED


def run_heading_count(parameters: Parameters, candidate: str) -> Finding:
    level = count_of(parameters, "level")
    found = [heading for heading in headings(candidate) if not level or heading.level == level]
    low, high = count_of(parameters, "minimum"), count_of(parameters, "maximum")
    which = f"headings of level {level}" if level else "headings"
    if low is not None and len(found) < low:
        return Finding(False, f"The text has {len(found):,} {which}; at least {low:,} are wanted.")
    if high is not None and len(found) > high:
        message = f"The text has {len(found):,} {which}; at most {high:,} are wanted."
        return Finding(False, message, found[high].place)
    return PASSED


def heading_problems(parameters: Parameters) -> list[str]:
    level = count_of(parameters, "level")
    if level is not None and level > 6:
        return ["Level must be 1 to 6, or 0 for all levels."]
    return range_problems(parameters)


def headings(markdown: str) -> Iterator[Heading]:
    """The headings of a Markdown text, including underlined ones and without those in code blocks."""
    fence, paragraph = "", None
    position = 0
    for whole_line in markdown.splitlines(keepends=True):
        line, place = whole_line.rstrip("\r\n"), Place(position, position + len(whole_line.rstrip("\r\n")))
        position += len(whole_line)
        opened = _FENCE.match(line)
        if fence:
            fence = "" if opened and _closes(line, fence) else fence
        elif opened:
            fence, paragraph = opened.group(1), None
        elif atx := _ATX.match(line):
            paragraph = None
            yield Heading(len(atx.group(1)), place)
        elif paragraph and (underline := _UNDERLINE.match(line)):
            yield Heading(1 if underline.group(1)[0] == "=" else 2, paragraph)
            paragraph = None
        else:
            paragraph = None if _NOT_A_PARAGRAPH.match(line) else place


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return set(bare) == {fence[0]} and len(bare) >= len(fence)


_MINIMUM = Parameter("minimum", "Minimum", ParameterType.COUNT)
_MAXIMUM = Parameter("maximum", "Maximum", ParameterType.COUNT)

KINDS = (
    CheckKind(
        "length",
        "Length",
        "The length of the text must be within limits.",
        (
            Parameter(
                "unit", "Unit", ParameterType.CHOICE, default="characters", choices=("characters", "words")
            ),
            _MINIMUM,
            _MAXIMUM,
            NEGATE,
        ),
        negatable(run_length, lambda parameters: f"The number of {parameters['unit']} is within the limits"),
        range_problems,
    ),
    CheckKind(
        "heading-count",
        "Heading count",
        "The number of Markdown headings must be within limits.",
        (
            Parameter("level", "Level", ParameterType.COUNT, description="1 to 6, or empty for all levels."),
            _MINIMUM,
            _MAXIMUM,
        ),
        run_heading_count,
        heading_problems,
    ),
)
