"""The rubric of a line of `runs.jsonl`: which weights its round scores were computed with.

A line has scores by dimension and the round scores computed from them, but seldom the weights. They are, in
this order: the line's own, those given by the user, the published ones of a known set, or equal ones.
Published weights count only if they reproduce the line's round scores at least as often as equal ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from refinement.engine.kinds import Composite
from refinement.engine.profiles import WIGGUM_CRITERIA, wiggum_rubric
from refinement.engine.types import Criterion, Penalties, Rubric
from refinement.interchange.imports.foreign_runs import criteria_of, imported_name
from refinement.interchange.imports.found import Notes
from refinement.interchange.imports.written_scores import agrees
from refinement.interchange.runs_jsonl.rounds import LineRound

WHOLE = "score"  # the criterion of a run whose rounds have only a composite
WEIGHT_FIELDS = ("wiggum_weights", "wiggum_dim_weights", "dimension_weights", "criteria_weights", "weights")
ALIASES = {"groundedness": "grounded"}
SIX = {criterion.key: criterion.weight for criterion in WIGGUM_CRITERIA}
FIVE = {
    "relevance": Decimal("0.20"),
    "completeness": Decimal("0.25"),
    "depth": Decimal("0.30"),
    "specificity": Decimal("0.15"),
    "structure": Decimal("0.10"),
}
FIVE_NAME = "Wiggum five dimensions"
MOST_WEIGHT, PLACES = Decimal(1_000), 6
ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class LineRubric:
    """A rubric, and the key of each dimension in the line."""

    rubric: Rubric
    keys: dict[str, str]
    given: Mapping[str, Decimal] | None = None  # the user's weights, if they are used


def parsed_weights(text: str) -> dict[str, Decimal]:
    """Weights such as `depth=.3,clarity=.7`. Raises ValueError, naming what is wrong."""
    weights: dict[str, Decimal] = {}
    for part in text.split(","):
        name, sign, value = part.partition("=")
        weight = weight_of(value.strip())
        if not name.strip() or not sign or weight is None:
            raise ValueError(f"“{part.strip()}” is not a weight such as depth=0.3.")
        if name.strip() in weights:
            raise ValueError(f"{name.strip()} has two weights.")
        weights[name.strip()] = weight
    return weights


def weight_of(value: object) -> Decimal | None:
    """The value as a positive weight; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, Decimal, str)):
        return None
    try:
        weight = Decimal(value)
    except InvalidOperation:
        return None
    if not weight.is_finite() or not 0 < weight <= MOST_WEIGHT or not round(weight, PLACES):
        return None
    return Decimal(f"{round(weight, PLACES).normalize():f}")


def line_rubric(
    record: Mapping[str, Any],
    rounds: Sequence[LineRound],
    names: Sequence[str],
    given: Mapping[str, Decimal] | None,
    line: int,
    notes: Notes,
) -> LineRubric:
    """The rubric for the line's dimensions."""
    if not names:
        return LineRubric(_made([WHOLE], None), {WHOLE: WHOLE})
    own = _own(record, names, line, notes)
    users = None if own else _given(names, given, line, notes)
    if own or users:
        return replace(_keyed(names, own or users), given=users)
    published = _published(names)
    if published is None:
        if len(names) > 1:
            _note_equal(rounds, names, line, notes)
        return _keyed(names, None)
    by_set, by_mean = _matches(rounds, published), _matches(rounds, dict.fromkeys(names, Decimal(1)))
    if by_mean[0] > by_set[0]:
        notes.add(
            line, ", ".join(names), "Equal weights reproduce the round scores, the published ones do not."
        )
        return _keyed(names, None)
    if by_set[1] and not by_set[0]:
        notes.add(line, "", "The published weights are used, but do not reproduce the line's round scores.")
    return _of_a_set(names)


def _own(
    record: Mapping[str, Any], names: Sequence[str], line: int, notes: Notes
) -> dict[str, Decimal] | None:
    """The weights in the line itself."""
    field = next((name for name in WEIGHT_FIELDS if isinstance(record.get(name), dict)), None)
    if field is None:
        return None
    weights = {name: weight_of(record[field].get(name)) for name in names}
    missing = [name for name, weight in weights.items() if weight is None]
    if missing:
        notes.add(
            line, f"{field}: {', '.join(missing)}", "No positive weight; the line's weights are not used."
        )
        return None
    return {name: weight for name, weight in weights.items() if weight is not None}


def _given(
    names: Sequence[str], given: Mapping[str, Decimal] | None, line: int, notes: Notes
) -> dict[str, Decimal] | None:
    if not given:
        return None
    missing = [name for name in names if name not in given]
    if missing:
        notes.add(line, ", ".join(missing), "The given weights lack this, so they are not used for this run.")
        return None
    return {name: given[name] for name in names}


def _published(names: Sequence[str]) -> dict[str, Decimal] | None:
    """The published weights by the names in the line, if these are a published set of dimensions."""
    keys = {name: ALIASES.get(name, name) for name in names}
    for known in (SIX, FIVE):
        if set(keys.values()) == set(known) and len(keys) == len(known):
            return {name: known[key] for name, key in keys.items()}
    return None


def _matches(rounds: Sequence[LineRound], weights: Mapping[str, Decimal]) -> tuple[int, int]:
    """How many stated round scores these weights reproduce, and of how many."""
    total = sum(weights.values(), ZERO)
    pairs = [
        (entry.stated, sum((entry.dims[name] * weight for name, weight in weights.items()), ZERO) / total)
        for entry in rounds
        if entry.stated is not None and entry.dims.keys() >= weights.keys()
    ]
    return sum(agrees(stated, computed) for stated, computed in pairs), len(pairs)


def _note_equal(rounds: Sequence[LineRound], names: Sequence[str], line: int, notes: Notes) -> None:
    same, known = _matches(rounds, dict.fromkeys(names, Decimal(1)))
    if not known or same < known:
        why = "The file has no weights for these dimensions; they get equal weights, unless you give others."
        notes.add(line, ", ".join(names), why)


def _of_a_set(names: Sequence[str]) -> LineRubric:
    keys = {name: ALIASES.get(name, name) for name in names}
    if len(names) == len(SIX):
        return LineRubric(wiggum_rubric(), keys)
    texts = {criterion.key: criterion for criterion in WIGGUM_CRITERIA}
    criteria = tuple(replace(texts[key], weight=weight) for key, weight in FIVE.items())
    return LineRubric(_unchecked(FIVE_NAME, criteria, Composite.WEIGHTED_MEAN), keys)


def _keyed(names: Sequence[str], weights: Mapping[str, Decimal] | None) -> LineRubric:
    rubric = _made(names, weights)
    return LineRubric(
        rubric, {name: criterion.key for name, criterion in zip(names, rubric.criteria, strict=True)}
    )


def _made(names: Sequence[str], weights: Mapping[str, Decimal] | None) -> Rubric:
    """A rubric for these dimensions, without a pass mark: the file has none."""
    criteria = criteria_of(names)
    if weights is not None:
        criteria = tuple(
            replace(criterion, weight=weights[name]) for name, criterion in zip(names, criteria, strict=True)
        )
    mean = Composite.PLAIN_MEAN if weights is None else Composite.WEIGHTED_MEAN
    return _unchecked(imported_name(names), criteria, mean)


def _unchecked(name: str, criteria: tuple[Criterion, ...], composite: Composite) -> Rubric:
    published = wiggum_rubric()
    return replace(
        published,
        name=name,
        purpose="Created for an import: the dimensions of a runs.jsonl file.",
        criteria=criteria,
        policy=replace(published.policy, composite=composite, pass_threshold=None, penalties=Penalties()),
    )
