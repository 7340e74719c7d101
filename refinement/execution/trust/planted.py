"""What a judge noticed of planted defects, and its false alarms on harmless copies.

A defect is noticed if the score of the criterion that it should lower, or the composite, dropped by more than
the judge's own noise: its smallest real difference, which a retest measures. The noise of a mean over repeats
is smaller by the square root of their number. Without a retest, a drop counts from `FALLBACK` of the scale,
and of a criterion from one step. Only what the judge itself said counts, without checks and penalties, which
find some defects by rule.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np

from refinement.engine.types import Rubric
from refinement.models import JudgeRecord
from refinement.planting.kinds import Effect
from refinement.planting.table import EDITS, NAMES
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.trust.planted import Pair, planted_pairs
from refinement.selectors.trust.scores import COMPOSITE
from refinement.statistics.agreement.bootstrap import Figure, figure_of
from refinement.statistics.agreement.errors import mean_measure
from refinement.statistics.agreement.rates import wilson

FALLBACK = 0.05  # of the scale
TINY = 1e-9
MOST_EXAMPLES = 6  # of each kind
CHANGE_CHARS = 400
DIGITS = 10


def planted_results(
    record: JudgeRecord, differences: Mapping[str, float | None] | None = None
) -> dict[str, Any] | None:
    """The results of all planted copies that the judge scored; None if there are none.

    `differences` are its smallest real differences by criterion and for `composite`; by default those that
    were computed last.
    """
    pairs = planted_pairs(record)
    if not pairs:
        return None
    if differences is None:
        differences = {**record.criteria_differences, COMPOSITE: record.smallest_difference}
    noise = Noise(definition_of(record.rubric_version), differences)
    groups: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        groups[pair.edit].append(pair)
    effects = {edit: effect_of(edit, entries) for edit, entries in groups.items()}
    spoiled, harmless = (
        [edit for edit in in_order(groups) if effects[edit] is effect]
        for effect in (Effect.SPOILED, Effect.HARMLESS)
    )
    return {
        "copies": len(pairs),
        "measurements": sorted({pair.measurement for pair in pairs}),
        "noise": noise.values(),
        "kinds": [spoiled_values(edit, groups[edit], noise) for edit in spoiled],
        "harmless": [harmless_values(edit, groups[edit], noise) for edit in harmless],
        "found": rate_values(noise.noticed(pair) for edit in spoiled for pair in groups[edit]),
        "false_alarms": rate_values(noise.dropped(pair) for edit in harmless for pair in groups[edit]),
        "right": right_values([pair for edit in spoiled for pair in groups[edit]], noise),
        "padding": padding_values(groups.get("padding", []), noise),
    }


def effect_of(edit: str, pairs: Sequence[Pair]) -> Effect:
    if edit in EDITS:
        return EDITS[edit].effect
    return Effect.HARMLESS if pairs[0].harmless else Effect.SPOILED


def in_order(groups: Iterable[str]) -> list[str]:
    """As in the table of edits, then any others."""
    places = {edit: place for place, edit in enumerate(NAMES)}
    return sorted(groups, key=lambda edit: (places.get(edit, len(places)), edit))


class Noise:
    """How far a score has to drop to be more than noise."""

    def __init__(self, rubric: Rubric, differences: Mapping[str, float | None]) -> None:
        scale = rubric.scale
        self.known = {key: value for key, value in differences.items() if value is not None}
        self.fallback = float(scale.maximum - scale.minimum) * FALLBACK
        self.step = float(scale.step or 0)

    def values(self) -> dict[str, Any]:
        """Whether a retest has measured it, and what counts for the composite."""
        is_known = COMPOSITE in self.known
        return {
            "known": is_known,
            "composite": round(self.known.get(COMPOSITE, self.fallback), DIGITS),
            "fallback": round(self.fallback, DIGITS),
        }

    def dropped(self, pair: Pair, key: str = COMPOSITE) -> bool:
        """Whether the score dropped by more than noise."""
        return self.is_real(drop_of(pair, key), pair, key)

    def raised(self, pair: Pair) -> bool:
        """Whether the composite rose by more than noise."""
        return self.is_real(-drop_of(pair, COMPOSITE), pair, COMPOSITE)

    def is_real(self, change: float, pair: Pair, key: str) -> bool:
        if key not in self.known:
            return change >= max(self.fallback, 0 if key == COMPOSITE else self.step) - TINY
        repeats = sqrt((1 / pair.original.repeats + 1 / pair.copy.repeats) / 2)
        return change > self.known[key] * repeats + TINY

    def noticed(self, pair: Pair) -> bool:
        return self.dropped(pair) or (has_criterion(pair) and self.dropped(pair, pair.criterion))

    def on_the_right_criterion(self, pair: Pair) -> bool:
        """Whether the criterion dropped by more than noise, and none dropped further."""
        others = [drop_of(pair, key) for key in pair.original.scores if key != COMPOSITE]
        return self.dropped(pair, pair.criterion) and drop_of(pair, pair.criterion) >= max(others) - TINY


def has_criterion(pair: Pair) -> bool:
    return pair.criterion in pair.original.scores and pair.criterion in pair.copy.scores


def drop_of(pair: Pair, key: str) -> float:
    return pair.original.scores[key] - pair.copy.scores[key]


def shown_drop(pair: Pair) -> float:
    """The drop of the criterion that should be lower, or of the composite."""
    return drop_of(pair, pair.criterion if has_criterion(pair) else COMPOSITE)


def spoiled_values(edit: str, pairs: Sequence[Pair], noise: Noise) -> dict[str, Any]:
    return {
        "edit": edit,
        "name": NAMES.get(edit, edit),
        **rate_values(noise.noticed(pair) for pair in pairs),
        "right": right_values(pairs, noise),
        "mean_drop": mean_drop(pairs),
        "examples": examples(pairs, noise, missed_first=True),
    }


def harmless_values(edit: str, pairs: Sequence[Pair], noise: Noise) -> dict[str, Any]:
    """A false alarm is a composite that dropped by more than noise."""
    return {
        "edit": edit,
        "name": NAMES.get(edit, edit),
        **rate_values(noise.dropped(pair) for pair in pairs),
        "mean_drop": mean_drop(pairs),
        "examples": examples(pairs, noise, missed_first=False),
    }


def right_values(pairs: Sequence[Pair], noise: Noise) -> dict[str, Any] | None:
    """Of the noticed defects whose criterion is known; None without any."""
    noticed = [pair for pair in pairs if has_criterion(pair) and noise.noticed(pair)]
    return rate_values(noise.on_the_right_criterion(pair) for pair in noticed) if noticed else None


def rate_values(hits: Iterable[bool]) -> dict[str, Any]:
    each = list(hits)
    return {"n": len(each), "hits": sum(each), "share": value_of(wilson(sum(each), len(each)))}


def mean_drop(pairs: Sequence[Pair]) -> float:
    return round(sum(shown_drop(pair) for pair in pairs) / len(pairs), DIGITS)


def padding_values(pairs: Sequence[Pair], noise: Noise) -> dict[str, Any] | None:
    """The mean change of the composite when nothing is added but words."""
    if not pairs:
        return None
    changes = np.array([-drop_of(pair, COMPOSITE) for pair in pairs])
    return {
        "n": len(pairs),
        "words": round(sum(pair.words for pair in pairs) / len(pairs)),
        "change": value_of(figure_of(mean_measure(changes))),
        "raised": sum(noise.raised(pair) for pair in pairs),
        "examples": examples(pairs, noise, missed_first=False),
    }


def examples(pairs: Sequence[Pair], noise: Noise, *, missed_first: bool) -> list[dict[str, Any]]:
    """The newest ones, those first that speak against the judge."""
    noticed = {pair.item: noise.noticed(pair) for pair in pairs}
    ordered = sorted(pairs, key=lambda pair: noticed[pair.item] is missed_first)
    return [
        {
            "item": pair.item,
            "measurement": pair.measurement,
            "change": pair.change[:CHANGE_CHARS],
            "criterion": pair.criterion,
            "drop": round(shown_drop(pair), DIGITS),
            "noticed": noticed[pair.item],
        }
        for pair in ordered[:MOST_EXAMPLES]
    ]


def value_of(figure: Figure | None) -> dict[str, float | None] | None:
    if figure is None:
        return None
    low, high = (None if end is None else round(end, DIGITS) for end in (figure.low, figure.high))
    return {"value": round(figure.value, DIGITS), "low": low, "high": high}
