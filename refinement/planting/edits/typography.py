"""Other quotation marks, dashes and spaces: the same words."""

import re
from random import Random

from refinement.planting.documents import PROSE, Document
from refinement.planting.kinds import Made, listed

STRAIGHT = re.compile(r"""(?<![\w\d])"(?=\w)|(?<=[\w.,!?;:…])"(?!\w)|(?<=[^\W\d])'(?=[^\W\d])""")
CURLY = re.compile(r"[“”]|(?<=[^\W\d])’(?=[^\W\d])")
HYPHENS = re.compile(r"(?<=\S) (?:--?|—) (?=\S)|(?<=\w)—(?=\w)")
DASHES = re.compile(r"(?<=\S) – (?=\S)")
DOTS = re.compile(r"(?<!\.)\.\.\.(?!\.)")
SPACES = re.compile(r"(?<=[^\W\d][.!?]) (?=[^\W\d_])")
RULES = (
    ("quotation marks", STRAIGHT),
    ("quotation marks", CURLY),
    ("dashes", HYPHENS),
    ("dashes", DASHES),
    ("dots", DOTS),
    ("spaces after sentences", SPACES),
)


def change_typography(document: Document, chance: Random) -> Made | None:
    """Quotation marks become curly or straight, dashes change, and sentences are two spaces apart."""
    changes: list[tuple[int, int, str]] = []
    what: list[str] = []
    for name, pattern in RULES:
        if name in what:
            continue
        found = [(*match.span(), _other(document.text, match)) for match in document.found(pattern, PROSE)]
        if found:
            changes += found
            what.append(name)
    return Made(document.replaced(changes), f"Other {listed(what)}, the same words.") if changes else None


def _other(text: str, match: re.Match[str]) -> str:
    mark = match.group()
    if mark == '"':
        return "“" if match.end() < len(text) and text[match.end()].isalnum() else "”"
    if mark in "“”":
        return '"'
    if mark in "'’":
        return "’" if mark == "'" else "'"
    if mark == "...":
        return "…"
    if mark == " ":
        return "  "
    return " - " if mark == " – " else " – "
