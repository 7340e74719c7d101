"""Removes steps from a procedure."""

import re
from itertools import groupby
from random import Random

from refinement.planting.documents import Block, Document
from refinement.planting.kinds import Made, dose, listed, quoted

FEWEST = 3
NUMBERED = re.compile(r"([ \t]*)(\d{1,9})([.)])")


def remove_steps(document: Document, chance: Random) -> Made | None:
    """Removes a step of a numbered list and renumbers the rest; else an entry of a list with bullets."""
    lists = lists_of(document)
    usable = [items for items in lists if _number(document, items[0]) is not None] or lists
    if not usable:
        return None
    items = chance.choice(usable)
    # The first step stays: without it, readers look for it.
    gone = sorted(chance.sample(range(1, len(items)), dose(len(items), one_in=6)))
    changes = [(items[at].start, _end_of(document, items, at), "") for at in gone]
    numbered = _number(document, items[0]) is not None
    if numbered:
        changes += _renumbered(document, items, gone)
    text = document.replaced(changes).rstrip("\n") + document.text[len(document.text.rstrip("\n")) :]
    name = "step" if numbered else "list item"
    what = listed([quoted(document.text[items[at].inner : items[at].end]) for at in gone])
    return Made(text, f"Removed {len(gone)} of {len(items)} {name}s: {what}.")


def lists_of(document: Document) -> list[list[Block]]:
    """Lists with enough items of the same depth and kind that follow each other with nothing between them."""
    found: list[list[Block]] = []
    runs = groupby(document.blocks, key=lambda block: block.kind == "item")
    for is_items, run in runs:
        blocks = list(run)
        if is_items and len(blocks) >= FEWEST and len({_form(document, block) for block in blocks}) == 1:
            found.append(blocks)
    return found


def _form(document: Document, block: Block) -> tuple[str, str]:
    """Indentation and kind of mark."""
    mark = document.text[block.start : block.inner]
    return mark[: len(mark) - len(mark.lstrip())], re.sub(r"\d+", "1", mark.strip())


def _number(document: Document, item: Block) -> int | None:
    found = NUMBERED.match(document.text, item.start, item.inner)
    return int(found.group(2)) if found else None


def _end_of(document: Document, items: list[Block], at: int) -> int:
    """Where the next item starts, or the end of the last one and its line."""
    if at + 1 < len(items):
        return items[at + 1].start
    return min(items[at].end + 1, len(document.text))


def _renumbered(document: Document, items: list[Block], gone: list[int]) -> list[tuple[int, int, str]]:
    changes = []
    for at, item in enumerate(items):
        found = NUMBERED.match(document.text, item.start, item.inner)
        before = sum(place < at for place in gone)
        # Lists that number every item 1 stay so.
        if found and at not in gone and before and found.group(2) != _first_number(document, items):
            changes.append((*found.span(2), str(int(found.group(2)) - before)))
    return changes


def _first_number(document: Document, items: list[Block]) -> str:
    return str(_number(document, items[0]))
