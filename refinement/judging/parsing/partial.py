"""Reads a judge's reply while it is still being written.

For display only. `ladder.py` reads the finished reply.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from pydantic_core import from_json

MAX_CHARS = 40_000
MAX_VALUES = 400
MAX_DEPTH = 8
# A think block and the start of a code fence may precede the object.
LEAD = re.compile(
    r"\s*(?:<(think|thinking|reasoning|thought)>.*?</\1>\s*)?(?:```[a-z]*\s*)?(?=\{)",
    re.IGNORECASE | re.DOTALL,
)
# Models leave line breaks unescaped in strings. Between values they are only space, so all become space.
CONTROL = re.compile(r"[\x00-\x1f]")
WRAPPERS = ("criteria", "scores")  # keys under which judges nest their criteria
NAME_KEYS = ("name", "key", "criterion")
TITLES = {"asi": "Suggested change"}
LABELS = {"reasoning": "", "reason": "", "improvement": "To improve:"}


@dataclass(slots=True)
class Entry:
    """One topic of the verdict: a criterion with its score, the issues or the ASI."""

    title: str
    score: str = ""
    parts: list[tuple[str, str]] = field(default_factory=list)  # label (may be empty) and text


def partial_verdict(text: str) -> list[Entry]:
    """Return what the reply says so far, one entry per topic; empty if it is not a JSON object.

    Never raises, whatever a model wrote.
    """
    lead = LEAD.match(text) if len(text) <= MAX_CHARS else None
    if lead is None:
        return []
    source = CONTROL.sub(" ", text[lead.end() :]).encode("utf-8", "replace")
    try:
        value = from_json(source, allow_partial="trailing-strings")
    except ValueError:
        return []
    entries: dict[tuple[bool, str], Entry] = {}
    for path, leaf in islice(_leaves(value), MAX_VALUES):
        nested = len(path) > 1 and path[0] in WRAPPERS
        key, *rest = path[1:] if nested else path
        entry = entries.setdefault((nested, key), Entry(_title(key)))
        _add(entry, rest[-1] if rest else "", leaf, nested=nested)
    return list(entries.values())


def last_entry(text: str) -> Entry | None:
    """What the reply is saying now: the topic that it is at; None if nothing can be read yet."""
    entries = [entry for entry in partial_verdict(text) if entry.parts]
    return entries[-1] if entries else None


def _leaves(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    if not isinstance(value, dict | list):
        yield path, value
    elif len(path) < MAX_DEPTH:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            yield from _leaves(inner, (*path, str(key)))


def _add(entry: Entry, key: str, leaf: object, *, nested: bool) -> None:
    text = leaf if isinstance(leaf, str) else json.dumps(leaf)
    if key == "score" or (not key and not isinstance(leaf, str)):
        entry.score = text
    elif nested and key in NAME_KEYS:
        entry.title = _title(text)
    elif text:
        title = _title(key)
        entry.parts.append((LABELS.get(key, f"{title}:" if title else ""), text))


def _title(key: str) -> str:
    """Turn a key into words. An index in a list has no title."""
    words = "" if key.isdecimal() else key.replace("_", " ")
    return TITLES.get(key, words[:1].upper() + words[1:])
