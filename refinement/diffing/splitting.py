"""Texts in pieces: sentences and lines to find what stayed or moved, words to find what changed in them."""

import re

_UNIT_END = re.compile(r"(?<=[.!?])[^\S\n]+|\n+")
_WORDS = re.compile(r"\n|[^\S\n]+|(?:\d+(?:[.,]\d+)+|\w+|[^\w\s])[^\S\n]*")


def units(text: str) -> list[str]:
    """Sentences with the blanks after them, and line ends; joined they are the text again."""
    found, start = [], 0
    for end in _UNIT_END.finditer(text):
        stop = end.start() if "\n" in end.group() else end.end()
        found += [part for part in (text[start:stop], text[stop : end.end()]) if part]
        start = end.end()
    if start < len(text):
        found.append(text[start:])
    return found


def words(text: str) -> list[str]:
    """Words, numbers and signs, each with the blanks after it, and line ends; joined they are the text."""
    return _WORDS.findall(text)


def plain(unit: str) -> str:
    """A unit as it is compared: how many blanks there are does not matter, where lines end does."""
    return " ".join(unit.split()) or unit


def moved_key(unit: str) -> str:
    """What a unit is recognised by in another place; empty where it is too short to be told from chance."""
    key = " ".join(unit.split()).casefold()
    return key if len(key) >= 20 and len(key.split()) >= 4 else ""
