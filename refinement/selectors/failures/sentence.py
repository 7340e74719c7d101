"""What fails most, in a sentence."""

from collections.abc import Sequence

from refinement.selectors.failures.categories import FALLING, RISING, CategoryFigures
from refinement.selectors.failures.criteria import CriterionFigures
from refinement.selectors.failures.window import Window

POORLY_FIXED = 0.5
FEWEST_FOLLOWED = 10
MOSTLY = 0.4  # of a criterion's issues


def sentence_parts(
    window: Window, criteria: Sequence[CriterionFigures], categories: Sequence[CategoryFigures]
) -> list[tuple[str, bool]]:
    """The answer as pieces of text, each with whether it is emphasised; empty without figures."""
    lowest = criteria[0] if criteria and criteria[0].lowest else None
    parts: list[tuple[str, bool]] = []
    if lowest:
        parts += [
            (lowest.name, True),
            (f" is the lowest criterion in {lowest.lowest:,} of {lowest.runs:,} runs ", False),
        ]
        parts.append((f"({percent(lowest.lowest_share)})", False))
        if lowest.last_share:
            parts.append((f", and below the pass mark in {percent(lowest.last_share)} of last rounds", False))
        parts.append((". ", False))
    top = max(categories, key=lambda entry: (len(entry.runs), entry.issues), default=None)
    if top is None or not top.row:
        return parts
    about = [entry for entry in categories if lowest and entry.row and entry.row.criterion == lowest.key]
    largest = max(about, key=lambda entry: entry.issues, default=None)
    if largest and largest.issues >= MOSTLY * sum(entry.issues for entry in about) and len(about) > 1:
        parts.append(("Its most frequent issue is ", False))
        top = largest
    else:
        parts.append(("The most frequent issue is ", False))
    parts += [(f"“{top.name}”", True), (f", in {len(top.runs):,} runs", False)]
    parts.append((told(top), False))
    return parts


def told(entry: CategoryFigures) -> str:
    words = {RISING: "rising", FALLING: "falling"}.get(entry.trend, "")
    fixed = entry.fixed_share
    if fixed is not None and entry.followed >= FEWEST_FOLLOWED:
        only = "only " if fixed < POORLY_FIXED else ""
        words += f"{', and ' if words else ''}the next round fixes {only}{percent(fixed)} of cases"
    return f": {words}." if words else "."


def percent(share: float) -> str:
    """A share as a whole percentage; small ones are never shown as none."""
    if 0 < share < 0.005:
        return "< 1 %"
    return f"{share * 100:.0f} %"
