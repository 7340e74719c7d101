"""Texts of label sets: added by hand, from rounds of runs, or by an import."""

import hashlib

from refinement.interchange.labels.types import TITLE_CHARS, ItemText
from refinement.models import LabelItem, LabelSet
from refinement.texts import one_line


def item_row(label_set: LabelSet, position: int, text: ItemText) -> LabelItem:
    """A text as a row that is not saved."""
    return LabelItem(
        label_set=label_set,
        position=position,
        key=text.item,
        title=title_of(text.text),
        task=text.task,
        task_type=text.task_type,
        text=text.text,
        text_chars=len(text.text),
        text_sha256=hashlib.sha256(text.text.encode()).hexdigest() if text.text else "",
    )


def title_of(text: str) -> str:
    """The text's first words, without Markdown marks."""
    first = next((line.strip() for line in text.splitlines() if line.strip(" #*->`")), text)
    return one_line(first.lstrip("#*->` ") or first, TITLE_CHARS)
