"""Measurements with planted defects: good texts, and copies of them that are spoiled or harmless."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError

from refinement.judging.same_text import fingerprint, plain_lines
from refinement.models import LabelItem, Measurement, MeasurementKind, Round, RubricVersion
from refinement.planting.kinds import Effect
from refinement.planting.planting import plant
from refinement.planting.table import EDITS, NAMES
from refinement.selectors.trust.planted import items_again
from refinement.services.trust.measurements.creating import JudgeChoice, NewItem
from refinement.texts import storable

MOST_TEXTS = 200
OWN_CHANGE = "A copy that a person made."
NO_COPIES = "None of these texts offers anything to edit. Choose longer texts or other edits."


@dataclass(frozen=True, slots=True)
class GoodText:
    """A text that people or the judge think well of, and where it comes from."""

    text: str
    task: str = ""
    label_item: LabelItem | None = None
    round: Round | None = None


@dataclass(frozen=True, slots=True)
class OwnCopy:
    """A person's own copy of a text; harmless, or spoiled on a criterion if it is given."""

    original: GoodText
    text: str
    harmless: bool = False
    criterion: str = ""
    change: str = ""


@dataclass(slots=True)
class Planned:
    """The texts to judge, each original before its copies, and why some copies are missing."""

    items: list[NewItem] = field(default_factory=list)
    texts: int = 0
    tried: int = 0  # texts in which copies were planted
    unusable: int = 0  # texts without any copy
    skipped: dict[str, Counter[str]] = field(default_factory=dict)  # by edit and reason

    @property
    def copies(self) -> int:
        return len(self.items) - self.texts

    @property
    def notes(self) -> list[str]:
        """Why there are fewer copies than texts and edits, for the page."""
        found = []
        for edit, reasons in self.skipped.items():
            count = sum(reasons.values())
            found.append(f"{NAMES[edit]}: not in {count} of {self.tried} texts ({'; '.join(reasons)}).")
        if self.unusable:
            found.append(f"{self.unusable} of {self.tried} texts offer nothing to edit.")
        return found


def planted_plan(
    version: RubricVersion,
    texts: Iterable[GoodText],
    *,
    edits: Sequence[str] = tuple(EDITS),
    seed: int = 0,
    own: Iterable[OwnCopy] = (),
) -> Planned:
    """Makes the copies. The same texts, edits and seed always give the same ones. A text counts once."""
    criteria = list(version.criteria.values_list("key", "name"))
    planned, originals = Planned(), dict[str, int]()
    for good in texts:
        if fingerprint(good.text) in originals:
            continue
        made = plant(plain_lines(storable(good.text)), seed=seed, edits=edits, criteria=criteria)
        planned.tried += 1
        for skip in made.skipped:
            planned.skipped.setdefault(skip.edit, Counter())[skip.reason] += 1
        if not made.copies:
            planned.unusable += 1
            continue
        place = add_original(planned, originals, good)
        for copy in made.copies:
            harmless = copy.effect is not Effect.SPOILED
            planned.items.append(
                copy_item(good, place, copy.text, copy.edit, harmless, copy.criterion, copy.change)
            )
    for each in own:
        add_own(planned, originals, each)
    return planned


def add_original(planned: Planned, originals: dict[str, int], good: GoodText) -> int:
    """The place of the text among the items."""
    digest = fingerprint(good.text)
    if digest not in originals:
        originals[digest] = len(planned.items)
        planned.items.append(NewItem(good.text, good.task, label_item=good.label_item, round=good.round))
        planned.texts += 1
    return originals[digest]


def add_own(planned: Planned, originals: dict[str, int], own: OwnCopy) -> None:
    place = add_original(planned, originals, own.original)
    edit = "own_harmless" if own.harmless else "own"
    change = own.change.strip() or OWN_CHANGE
    criterion = "" if own.harmless else own.criterion
    planned.items.append(copy_item(own.original, place, own.text, edit, own.harmless, criterion, change))


def copy_item(
    good: GoodText, place: int, text: str, edit: str, harmless: bool, criterion: str, change: str
) -> NewItem:
    return NewItem(
        text, good.task, edit=edit, harmless=harmless, original=place, criterion=criterion, change=change
    )


def planted_chosen(planned: Planned) -> dict[str, Any]:
    """What the measurement keeps about its copies."""
    return {
        "texts": planned.texts,
        "copies": planned.copies,
        "unusable": planned.unusable,
        "skipped": {edit: dict(reasons) for edit, reasons in planned.skipped.items()},
    }


def copies_again(measurement: Measurement) -> Planned:
    """The texts and copies of an earlier measurement, for another judge or version."""
    planned, places = Planned(), dict[int, int]()
    for row in items_again(measurement):
        places[row.pk] = len(planned.items)
        original = None if row.original_id is None else places[row.original_id]
        planned.texts += original is None
        planned.items.append(
            NewItem(
                row.bench.candidate,
                row.bench.task,
                label_item=row.label_item,
                round=row.round,
                edit=row.edit,
                harmless=row.harmless,
                original=original,
                criterion=row.criterion,
                change=row.change,
            )
        )
    return planned


def planted_values(
    *,
    version: RubricVersion,
    judge: JudgeChoice,
    planned: Planned,
    chosen: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """What `measurement_quote` and `measurement_create` need. Raises ValidationError."""
    if not planned.copies:
        raise ValidationError({"items": NO_COPIES})
    return {
        "project": version.rubric.project,
        "version": version,
        "kind": MeasurementKind.PLANTED,
        "judge": judge,
        "items": planned.items,
        "chosen": {**(chosen or {}), **planted_chosen(planned)},
        **more,
    }
