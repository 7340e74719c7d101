"""What fails most, in a sentence."""

from collections.abc import Sequence
from math import sqrt

from refinement.selectors.failures.categories import FALLING, RISING, CategoryFigures
from refinement.selectors.failures.criteria import CriterionFigures
from refinement.selectors.failures.window import Window

POORLY_FIXED = 0.5
FEWEST_FOLLOWED = 10
MOSTLY = 0.4  # of a criterion's issues
FEWEST_RUNS = 5  # that scored a criterion, to name it; and at least this share of the window:
FEWEST_SHARE = 0.1
# Standard errors, 99 %: the first of several criteria is ahead of the next one by chance more often than
# one of two.
CLEARLY = 2.58
MOST_ALIKE = 3  # criteria; of more than these, none stands out
MOST_STUCK = 2  # issues by name
RARELY_FIXED = 0.25


def sentence_parts(
    window: Window, criteria: Sequence[CriterionFigures], categories: Sequence[CategoryFigures]
) -> list[tuple[str, bool]]:
    """The answer as pieces of text, each with whether it is emphasised; empty without figures."""
    leading = lowest_criteria(window, criteria)
    parts: list[tuple[str, bool]] = criteria_parts(leading, window.rubrics)
    top = top_issue(leading, categories)
    if top is None:
        return parts
    if stuck := unfixed(categories):
        return [*stuck_parts(stuck), *parts]
    own = len(leading) == 1 and top.row is not None and top.row.criterion == leading[0].key
    parts.append((f"{'Its' if own else 'The'} most frequent issue is ", False))
    parts += [(f"“{top.name}”", True), (f", in {runs_words(top)}", False)]
    parts.append((told(top), False))
    return parts


def lowest_criteria(window: Window, criteria: Sequence[CriterionFigures]) -> list[CriterionFigures]:
    """The criterion that is clearly more often the lowest than any other, or all that are about as often."""
    fewest = max(FEWEST_RUNS, FEWEST_SHARE * len(window.runs))
    ranked = sorted(
        (entry for entry in criteria if entry.runs >= fewest and entry.lowest),
        key=lambda entry: -entry.lowest_share,
    )
    return [entry for entry in ranked if not clearly_ahead(ranked[0], entry)]


def clearly_ahead(one: CriterionFigures, other: CriterionFigures) -> bool:
    """Whether the first share is larger by more than chance; both are shares of largely the same runs."""
    gap = one.lowest_share - other.lowest_share
    spread = one.lowest_share + other.lowest_share - gap**2
    return gap > CLEARLY * sqrt(spread / min(one.runs, other.runs))


def criteria_parts(leading: Sequence[CriterionFigures], rubrics: int) -> list[tuple[str, bool]]:
    if not leading:
        return []
    if len(leading) > MOST_ALIKE:
        several = f" These runs have {rubrics} rubrics: filter by one to compare its criteria."
        return [("No criterion stands out.", False), (f"{several if rubrics > 1 else ''} ", False)]
    first = leading[0]
    if len(leading) == 1:
        words = f" is the lowest criterion in {first.lowest:,} of {first.runs:,} runs "
        below = (
            f", and below the pass mark in {percent(first.last_share)} of last rounds"
            if first.last_share
            else ""
        )
        return [(first.name, True), (f"{words}({percent(first.lowest_share)}){below}. ", False)]
    shares = " to ".join(dict.fromkeys(percent(entry.lowest_share) for entry in (leading[-1], first)))
    parts: list[tuple[str, bool]] = []
    for place, entry in enumerate(leading):
        parts += [(entry.name, True), (" and " if place == len(leading) - 2 else ", ", False)]
    return [*parts[:-1], (f" are about equally often the lowest criterion ({shares} of runs). ", False)]


def top_issue(
    leading: Sequence[CriterionFigures], categories: Sequence[CategoryFigures]
) -> CategoryFigures | None:
    """The issue to look at first.

    It is one that revisions never or rarely fix, if there is any. Otherwise it is the most frequent issue
    of the leading criterion, if it makes up much of its issues; or of all.
    """
    if stuck := unfixed(categories):
        return stuck[0]
    top = max(categories, key=lambda entry: (entry.having, entry.issues), default=None)
    if top is None or not top.row:
        return None
    about = [
        entry
        for entry in categories
        if len(leading) == 1 and entry.row and entry.row.criterion == leading[0].key
    ]
    largest = max(about, key=lambda entry: entry.issues, default=None)
    if largest and largest.issues >= MOSTLY * sum(entry.issues for entry in about) and len(about) > 1:
        return largest
    return top


def unfixed(categories: Sequence[CategoryFigures]) -> list[CategoryFigures]:
    """The issues that most next rounds raised again, those that all did and the most frequent first."""
    found = [
        entry
        for entry in categories
        if entry.row and entry.followed >= FEWEST_FOLLOWED and (entry.fixed_share or 0) < RARELY_FIXED
    ]
    return sorted(found, key=lambda entry: (entry.fixed > 0, -entry.having))


def stuck_parts(stuck: Sequence[CategoryFigures]) -> list[tuple[str, bool]]:
    rarely = any(entry.fixed for entry in stuck)
    parts: list[tuple[str, bool]] = [(f"{'Rarely' if rarely else 'Never'} fixed by a revision: ", False)]
    for place, entry in enumerate(stuck[:MOST_STUCK]):
        parts += [(" and ", False)] if place else []
        parts += [
            (f"“{entry.name}”", True),
            (f" ({fixed_words(entry)}; raised in {runs_words(entry)})", False),
        ]
    more = len(stuck) - MOST_STUCK
    return [*parts, (f", and {more} more. " if more > 0 else ". ", False)]


def fixed_words(entry: CategoryFigures) -> str:
    """How many of its issues with a next round that round fixed."""
    return f"{entry.fixed:,} of {entry.followed:,} fixed"


def runs_words(entry: CategoryFigures) -> str:
    """In how many runs the issue is, of how many that scored its criterion."""
    scored = "" if entry.of_all else f" that scored {entry.criterion}"
    return f"{entry.having:,} of {entry.scored:,} run{'s'[: entry.scored != 1]}{scored}"


def told(entry: CategoryFigures) -> str:
    words = {RISING: "rising", FALLING: "falling"}.get(entry.trend, "")
    fixed = entry.fixed_share
    if fixed is not None and entry.followed >= FEWEST_FOLLOWED:
        only = "only " if fixed < POORLY_FIXED else ""
        words += f"{', and ' if words else ''}{only}{percent(fixed)} are not raised in the next round"
    return f": {words}." if words else "."


def percent(share: float) -> str:
    """A share as a whole percentage; small ones are never shown as none."""
    if 0 < share < 0.005:
        return "< 1 %"
    return f"{share * 100:.0f} %"
