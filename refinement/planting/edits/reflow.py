"""Breaks the lines of paragraphs elsewhere: the same words, and the same page when it is rendered."""

import re
from random import Random

from refinement.planting.documents import Block, Document
from refinement.planting.kinds import Made

WIDTHS = (64, 72, 80)
FEWEST_CHARS = 100  # a shorter paragraph has nothing to break
SHORT_LINE = 40  # shorter lines may be verse, an address or a signature
HARD_BREAK = re.compile(r"(?: {2}|\\)(?:\n|$)|<br", re.IGNORECASE)


def reflow(document: Document, chance: Random) -> Made | None:
    """Paragraphs on one line are broken into lines; paragraphs of several lines become one."""
    width = chance.choice(WIDTHS)
    changes = []
    for block in document.paragraphs:
        old = document.text[block.inner : block.end]
        new = _joined(old) if "\n" in old else _broken(document, block, width)
        if new is not None and new != old:
            changes.append((block.inner, block.end, new))
    count = "1 paragraph" if len(changes) == 1 else f"{len(changes)} paragraphs"
    return (
        Made(document.replaced(changes), f"Other line breaks in {count}, the same words.")
        if changes
        else None
    )


def _joined(text: str) -> str | None:
    lines = text.split("\n")
    if HARD_BREAK.search(text) or any(len(line) < SHORT_LINE for line in lines[:-1]):
        return None
    return " ".join(line.strip(" \t") for line in lines)


def _broken(document: Document, block: Block, width: int) -> str | None:
    """Spaces become line breaks, but not inside code and addresses, nor before what looks like a mark."""
    text = document.text[block.inner : block.end]
    if len(text) < FEWEST_CHARS or HARD_BREAK.search(text):
        return None
    parts, line_start = list(text), 0
    for space in re.finditer(r"(?<=\S) (?=\S)", text):
        if space.start() - line_start < width - 8:
            continue
        place = block.inner + space.start()
        if document.is_free(place, place + 1) and not document.is_mark(place + 1):
            parts[space.start()] = "\n"
            line_start = space.end()
    return "".join(parts)
