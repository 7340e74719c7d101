"""Breaks the formatting: headings, lists, paragraphs and code fences lose their form."""

import re
from itertools import pairwise, zip_longest
from random import Random

from refinement.planting.documents import FENCE, Document
from refinement.planting.edits.steps import lists_of
from refinement.planting.kinds import Made, listed

BOLD = re.compile(r"\*\*(?=[^\s*])[^*\n]{1,200}\*\*")
FEWEST_PARAGRAPHS = 3


def break_formatting(document: Document, chance: Random) -> Made | None:
    """Headings become text, list items run together, bold marks and code fences stay open.

    Where there is no Markdown, paragraphs run together.
    """
    changes: list[tuple[int, int, str]] = []
    what: list[str] = []
    for make, name in (
        (headings, "headings"),
        (lists, "lists"),
        (tables, "tables"),
        (open_bold, "bold text"),
        (open_fence, "a code block"),
    ):
        if found := make(document):
            changes += found
            what.append(name)
    if changes:
        return Made(document.replaced(changes), f"Broke the formatting of {listed(what)}.")
    changes = joined_paragraphs(document)
    return Made(document.replaced(changes), "Removed the paragraph breaks.") if changes else None


def headings(document: Document) -> list[tuple[int, int, str]]:
    """Without their marks, and run into the text after them."""
    found = []
    for block, after in zip_longest(document.blocks, document.blocks[1:]):
        if block.kind == "heading" and block.inner > block.start and block.inner < block.end:
            found.append((block.start, block.inner, ""))
            if after and after.kind == "paragraph":
                found.append((block.end, after.start, " "))
    return found


def lists(document: Document) -> list[tuple[int, int, str]]:
    """The items of each list on one line."""
    found = []
    for items in lists_of(document):
        for item, after in pairwise(items):
            found.append((item.end, after.start, " "))
    return found


def tables(document: Document) -> list[tuple[int, int, str]]:
    """The rows of each table on one line."""
    return [
        (block.start, block.end, document.text[block.start : block.end].replace("\n", " "))
        for block in document.blocks
        if block.kind == "table" and "\n" in document.text[block.start : block.end]
    ]


def open_bold(document: Document) -> list[tuple[int, int, str]]:
    """Bold text without its closing marks."""
    return [
        (match.end() - 2, match.end(), "") for match in document.found(BOLD, ("paragraph", "item", "quote"))
    ]


def open_fence(document: Document) -> list[tuple[int, int, str]]:
    """The last fenced block without its closing fence."""
    fenced = [block for block in document.blocks if block.kind == "code"]
    for block in reversed(fenced):
        lines = document.text[block.start : block.end].split("\n")
        if len(lines) > 2 and FENCE.match(lines[0]) and FENCE.match(lines[-1]):
            return [(block.end - len(lines[-1]) - 1, block.end, "")]
    return []


def joined_paragraphs(document: Document) -> list[tuple[int, int, str]]:
    blocks = document.paragraphs
    if len(blocks) < FEWEST_PARAGRAPHS or len(blocks) != len(document.blocks):
        return []
    return [(first.end, after.start, " ") for first, after in pairwise(blocks)]
