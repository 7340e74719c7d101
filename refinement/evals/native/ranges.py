"""Score ranges of a criterion: what each part of the scale means."""

import itertools
from decimal import Decimal
from typing import TYPE_CHECKING

from refinement.interchange.imports.fields import Missing
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node

if TYPE_CHECKING:
    from refinement.evals.native.asserting import Asserted

TEN = Decimal(10)


def ranges_text(asserted: "Asserted", node: Node, name: str) -> str:
    """The ranges with their meaning, lowest first. Ranges up to 10 are converted to 0 to 1."""
    notes, before = asserted.notes, len(asserted.notes.problems)
    if not isinstance(node, Items) or not node.values:
        notes.add(node.line, f"{name} must be a list of ranges, each with score_range and outcome.")
        return ""
    ranges = [_range(asserted, entry, f"{name}, entry {place}") for place, entry in enumerate(node.values, 1)]
    if len(notes.problems) > before:
        return ""
    levels = sorted(entry for entry in ranges if entry is not None)
    for (_, high, _), (low, _, _) in itertools.pairwise(levels):
        if low <= high:
            notes.add(node.line, f"{name} overlap: one ends at {high:f} and another starts at {low:f}.")
    share = TEN if levels[-1][1] > 1 else Decimal(1)
    return " ".join(
        f"From {_plain(low / share)} to {_plain(high / share)}: {meaning}" for low, high, meaning in levels
    )


def _range(asserted: "Asserted", node: Node, name: str) -> tuple[Decimal, Decimal, str] | None:
    notes = asserted.notes
    record = notes.record(node, name, {"score_range": True, "outcome": True})
    if isinstance(record, Missing) or not {"score_range", "outcome"} <= record.values.keys():
        return None
    outcome = asserted.text(record.values["outcome"], f"{name}.outcome")
    bounds = _bounds(asserted, record, name)
    return None if isinstance(outcome, Missing) or bounds is None else (*bounds, outcome.strip())


def _bounds(asserted: "Asserted", record: Fields, name: str) -> tuple[Decimal, Decimal] | None:
    node = record.values["score_range"]
    problem = f"{name}.score_range must be two numbers from 0 to 10, the lower first, such as [0, 3]."
    if not isinstance(node, Items) or len(node.values) != 2:
        asserted.notes.add(node.line, problem)
        return None
    low, high = (asserted.notes.number(entry, f"{name}.score_range", places=2) for entry in node.values)
    if isinstance(low, Missing) or isinstance(high, Missing):
        return None
    if not 0 <= low <= high <= TEN:
        asserted.notes.add(node.line, problem)
        return None
    return low, high


def _plain(value: Decimal) -> str:
    return f"{value.normalize():f}"
