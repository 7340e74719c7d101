"""Writes ratings and texts in the form that the import reads. CSV cells are no formulas."""

import csv
from collections.abc import Iterable, Iterator

from refinement.interchange.exports.json import as_json
from refinement.interchange.exports.rows import Line
from refinement.interchange.labels.types import ITEM_FIELDS, RATING_EXTRAS, RATING_FIELDS, ItemText, Rating
from refinement.interchange.suites.tables import escaped
from refinement.judging.schema import plain

MEDIA_TYPES = {"csv": "text/csv", "jsonl": "application/x-ndjson"}


def rating_values(rating: Rating) -> dict[str, str]:
    return {
        "item": rating.item,
        "criterion": rating.criterion,
        "rater": rating.rater,
        "score": plain(rating.score),
        "reason": rating.reason,
        "judge": rating.judge,
        "wrong": "yes" if rating.wrong else "",
    }


def item_values(item: ItemText) -> dict[str, str]:
    return {name: getattr(item, name) for name in ITEM_FIELDS}


def ratings_to_csv(ratings: Iterable[Rating]) -> Iterator[str]:
    """One line per score."""
    writer = csv.writer(Line())
    yield writer.writerow((*RATING_FIELDS, *RATING_EXTRAS))
    for rating in ratings:
        values = rating_values(rating)
        # A negative score is a number for spreadsheets, too.
        yield writer.writerow(
            [value if name == "score" else escaped(value) for name, value in values.items()]
        )


def ratings_to_jsonl(ratings: Iterable[Rating]) -> Iterator[str]:
    """One JSON object per score; the score is a text to stay exact."""
    for rating in ratings:
        yield f"{as_json({name: value for name, value in rating_values(rating).items() if value})}\n"


def items_to_csv(items: Iterable[ItemText]) -> Iterator[str]:
    """One line per text."""
    writer = csv.writer(Line())
    yield writer.writerow(ITEM_FIELDS)
    for item in items:
        yield writer.writerow([escaped(value) for value in item_values(item).values()])


def items_to_jsonl(items: Iterable[ItemText]) -> Iterator[str]:
    """One JSON object per text."""
    for item in items:
        yield f"{as_json({name: value for name, value in item_values(item).items() if value})}\n"
