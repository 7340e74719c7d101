"""Regular expressions with a time limit on every search."""

from functools import lru_cache
from typing import Any

import regex  # type: ignore[import-untyped]

from refinement.engine.types import Place
from refinement.judging.checks.kinds import quoted

TIMEOUT_SECONDS = 0.5  # of processor time, for one search
MAX_PATTERN_CHARS = 2_000
FLAGS = {"i": regex.IGNORECASE, "m": regex.MULTILINE, "s": regex.DOTALL, "x": regex.VERBOSE}


class TooSlow(Exception):
    """A pattern exceeded its time limit. The message is for people."""

    def __init__(self, pattern: str) -> None:
        limit = f"{TIMEOUT_SECONDS:g} seconds"
        super().__init__(
            f"The check itself failed: the pattern {quoted(pattern)} took longer than {limit}. "
            "Make the pattern simpler."
        )


def first_match(pattern: str, text: str, letters: str = "") -> Place | None:
    """The first match of the pattern. Raises TooSlow after the time limit."""
    try:
        match = compiled(pattern, letters).search(text, timeout=TIMEOUT_SECONDS)
    except TimeoutError:
        raise TooSlow(pattern) from None
    return Place(*match.span()) if match else None


def first_phrase(phrase: str, text: str, *, ignore_case: bool) -> Place | None:
    """The first occurrence of the phrase, compared literally."""
    if not ignore_case:
        start = text.find(phrase)
        return Place(start, start + len(phrase)) if start >= 0 else None
    match = regex.search(regex.escape(phrase), text, regex.IGNORECASE | regex.FULLCASE)
    return Place(*match.span()) if match else None


def pattern_problems(label: str, pattern: str, letters: str = "") -> list[str]:
    """Why the pattern is not valid; empty if it is."""
    if len(pattern) > MAX_PATTERN_CHARS:
        return [f"{label} has {len(pattern):,} characters; {MAX_PATTERN_CHARS:,} are allowed."]
    try:
        compiled(pattern, letters)
    except (regex.error, OverflowError, RecursionError, ValueError) as error:
        return [f"{label} {quoted(pattern)} is not a valid regular expression: {error}."]
    return []


@lru_cache(maxsize=256)
def compiled(pattern: str, letters: str = "") -> Any:
    flags = regex.VERSION0
    for letter in letters:
        flags |= FLAGS[letter]
    return regex.compile(pattern, flags)
