"""Splits texts into sentences, lines and words."""

import re

_UNIT_END = re.compile(r"(?<=[.!?])[^\S\n]+|\n+")
_WORDS = re.compile(r"\n|[^\S\n]+|(?:\d+(?:[.,]\d+)+|\w+|[^\w\s])[^\S\n]*")


def units(text: str) -> list[str]:
    """Sentences with trailing spaces, and line ends. Joined, they are the text."""
    parts, start = [], 0
    for end in _UNIT_END.finditer(text):
        stop = end.start() if "\n" in end.group() else end.end()
        parts += [part for part in (text[start:stop], text[stop : end.end()]) if part]
        start = end.end()
    if start < len(text):
        parts.append(text[start:])
    return parts


def words(text: str) -> list[str]:
    """Words, numbers and punctuation with trailing spaces, and line ends. Joined, they are the text."""
    return _WORDS.findall(text)


def plain(unit: str) -> str:
    """The unit for comparison, with whitespace collapsed. Line ends count."""
    return " ".join(unit.split()) or unit


def moved_key(unit: str) -> str:
    """The key to find a moved unit; empty if the unit is too short to be unique."""
    key = " ".join(unit.split()).casefold()
    return key if len(key) >= 20 and len(key.split()) >= 4 else ""
