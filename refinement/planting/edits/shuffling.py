"""Puts paragraphs into another order."""

from random import Random

from refinement.planting.documents import Document
from refinement.planting.kinds import Made

FEWEST = 3


def shuffle_paragraphs(document: Document, chance: Random) -> Made | None:
    """Paragraphs change places; headings, lists and code stay where they are."""
    blocks = document.paragraphs
    texts = [document.text[block.start : block.end] for block in blocks]
    if len(set(texts)) < FEWEST:
        return None
    order = list(range(len(blocks)))
    chance.shuffle(order)
    moved = sum(texts[new] != texts[old] for old, new in enumerate(order))
    if moved < FEWEST:
        order = [*range(1, len(blocks)), 0]
        moved = sum(texts[new] != texts[old] for old, new in enumerate(order))
    changes = [(block.start, block.end, texts[new]) for block, new in zip(blocks, order, strict=True)]
    text = document.replaced(changes)
    return (
        Made(text, f"Moved {moved} of {len(blocks)} paragraphs to other places.")
        if text != document.text
        else None
    )
