"""Texts of label sets: added by hand, from rounds of runs, or by an import."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction

from refinement.interchange.labels.types import (
    KEY_CHARS,
    MOST_ITEMS,
    MOST_TEXT_CHARS,
    TASK_TYPE_CHARS,
    TITLE_CHARS,
    ItemText,
    name_cleaned,
    text_cleaned,
)
from refinement.models import LabelItem, LabelSet, Round, User
from refinement.services.trust.labels import labels_audited
from refinement.texts import label, one_line

MOST_AT_ONCE = 500
SEPARATOR = "---"


@dataclass(frozen=True, slots=True)
class NewText:
    """A text to add. Without a key it gets `text-N`."""

    text: str
    task: str = ""
    task_type: str = ""
    key: str = ""


@transaction.atomic
def label_texts_add(*, label_set: LabelSet, texts: Sequence[NewText], user: User | None) -> int:
    """Add texts at the end. A text that the set has already is not added again. Returns how many were added.

    Raises ValidationError.
    """
    position, known, digests = _locked(label_set, len(texts))
    rows: list[LabelItem] = []
    errors: list[str] = []
    for number, given in enumerate(texts, 1):
        cleaned = ItemText(
            0,
            name_cleaned(given.key),
            text_cleaned(given.text),
            text_cleaned(given.task),
            label(given.task_type),
        )
        if reason := _wrong(cleaned, known):
            errors.append(f"Text {number}: {reason}")
            continue
        row = item_row(label_set, position + len(rows) + 1, cleaned)
        if row.text_sha256 in digests and not cleaned.item:
            continue
        row.key = row.key or free_key(row.position, known)
        known.add(row.key)
        digests.add(row.text_sha256)
        rows.append(row)
    if errors:
        raise ValidationError({"texts": errors[:20]})
    return _added(label_set, rows, user, "texts")


@transaction.atomic
def label_rounds_add(*, label_set: LabelSet, rounds: Sequence[Round], user: User | None) -> int:
    """Add the candidates of these rounds; those that the set has already are left out.

    `rounds` come with their runs. Returns how many were added. Raises ValidationError.
    """
    position, known, _ = _locked(label_set, len(rounds))
    rows: list[LabelItem] = []
    for row in rounds:
        key = f"run-{row.run_id}-round-{row.number}"
        text = text_cleaned(row.candidate)
        if key in known or not text:
            continue
        given = ItemText(0, key, text, text_cleaned(row.run.task), row.run.task_type)
        item = item_row(label_set, position + len(rows) + 1, given)
        item.round, item.producer_family = row, row.run.producer_family
        known.add(key)
        rows.append(item)
    return _added(label_set, rows, user, "rounds")


def _locked(label_set: LabelSet, more: int) -> tuple[int, set[str], set[str]]:
    """The last position, and the keys and digests of the texts. Locks the set, so that positions are free."""
    locked = LabelSet.objects.select_for_update().get(pk=label_set.pk)
    if locked.archived_at is not None:
        raise ValidationError("This label set is archived. Unarchive it to add texts.")
    if more > MOST_AT_ONCE:
        raise ValidationError(f"Add at most {MOST_AT_ONCE} texts at once, or import a file.")
    known = list(label_set.items.values_list("position", "key", "text_sha256"))
    if len(known) + more > MOST_ITEMS:
        raise ValidationError(f"A label set has at most {MOST_ITEMS:,} texts.")
    last = max((position for position, _, _ in known), default=0)
    return last, {key for _, key, _ in known}, {digest for _, _, digest in known}


def _wrong(given: ItemText, known: set[str]) -> str:
    if not given.text:
        return "Enter a text."
    for name, value, most in (
        ("name", given.item, KEY_CHARS),
        ("text", given.text, MOST_TEXT_CHARS),
        ("task", given.task, MOST_TEXT_CHARS),
        ("task type", given.task_type, TASK_TYPE_CHARS),
    ):
        if len(value) > most:
            return f"The {name} has {len(value):,} characters; {most:,} are allowed."
    if given.item and given.item in known:
        return f"The set has a text {given.item!r} already."
    return ""


def _added(label_set: LabelSet, rows: list[LabelItem], user: User | None, source: str) -> int:
    LabelItem.objects.bulk_create(rows, batch_size=100)
    if rows:
        labels_audited("labels.add", label_set, user, after={"items": len(rows), "from": source})
    return len(rows)


def free_key(position: int, taken: set[str]) -> str:
    return next(
        key for number in range(position, position + len(taken) + 2) if (key := f"text-{number}") not in taken
    )


def texts_pasted(text: str) -> list[NewText]:
    """The texts in a pasted block, which lines of three dashes separate."""
    parts: list[list[str]] = [[]]
    for line in text_cleaned(text).split("\n"):
        if line.strip() == SEPARATOR:
            parts.append([])
        else:
            parts[-1].append(line)
    return [NewText(whole) for lines in parts if (whole := "\n".join(lines).strip())]


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
