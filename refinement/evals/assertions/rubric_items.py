"""The criteria of a model-graded assertion: one text, or a list of items with weights and score ranges."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from refinement.engine.types import ONE
from refinement.evals.assertions.kinds import Refusal, plain
from refinement.evals.types import Assertion

TEN = Decimal(10)
TEXT_CHARS = 20_000
_TEMPLATE = re.compile(r"\{\{\s*([\w.]+)\s*\}\}")
# What the file's own grading prompt names, and where the judge finds it.
PLACEHOLDERS = {
    "output": "(the candidate)",
    "answer": "(the candidate)",
    "rubric": "(the criterion)",
    "criteria": "(the criterion)",
    "input": "(the task)",
    "question": "(the task)",
    "prompt": "(the task)",
}
TEXT_KEYS = ("criterion", "outcome", "expected_outcome", "description", "text", "criteria")
ITEM_KEYS = frozenset(
    {*TEXT_KEYS, "id", "ideal", "weight", "required", "min_score", "required_min_score", "score_ranges"}
    | {"operator", "metric", "name", "line"}
)
OPERATORS = {
    "correctness": "The answer must state this: {}",
    "contradiction": "The answer must not contradict this. Leaving it out is fine: {}",
}


@dataclass(frozen=True, slots=True)
class Item:
    """One criterion for the judge. `required` None: the case's threshold decides."""

    text: str
    description: str
    id: str = ""
    ideal: str = ""
    weight: Decimal = ONE
    required: bool | None = None
    least: Decimal | None = None


def items_of(assertion: Assertion, wording: str) -> list[Item]:
    """The assertion's criteria. Raises Refusal."""
    value = assertion.value
    if isinstance(value, list | tuple):
        if not value:
            raise Refusal("value must not be empty.")
        if all(isinstance(entry, str) or is_item(entry) for entry in value):
            return [_item(assertion, entry, wording) for entry in value]
    if isinstance(value, Mapping) and is_item(value):
        return [_item(assertion, value, wording)]
    text = "" if value is None else plain(value)
    if not text.strip() and assertion.kind != "answer-relevance":
        raise Refusal("value must be a text or a list of criteria.")
    return [_item(assertion, text, wording)]


def is_item(entry: object) -> bool:
    return (
        isinstance(entry, Mapping)
        and any(isinstance(entry.get(key), str) for key in TEXT_KEYS)
        and set(entry) <= ITEM_KEYS
    )


def _item(assertion: Assertion, entry: object, wording: str) -> Item:
    record = entry if isinstance(entry, Mapping) else {"criterion": entry}
    text = next((str(record[key]) for key in TEXT_KEYS if isinstance(record.get(key), str)), "").strip()
    operator = str(record.get("operator") or "")
    if operator and operator not in OPERATORS:
        raise Refusal(f"operator must be one of: {', '.join(OPERATORS)}.")
    body = OPERATORS[operator].format(text) if operator else wording.format(text).strip()
    if assertion.negated:
        body = f"This must not be true of the answer; a full score means that it is not: {body}"
    description = " ".join(filter(None, (body, ranges_words(record.get("score_ranges")), extra(assertion))))
    if len(description) > TEXT_CHARS:
        raise Refusal(f"a criterion has more than {TEXT_CHARS:,} characters.")
    required = record.get("required")
    return Item(
        text=text or body,
        description=description,
        id=str(record.get("id") or ""),
        ideal=str(record.get("ideal") or ""),
        weight=number_of(record.get("weight"), "weight", ONE),
        required=None if required is None else bool(required),
        least=least_of(record),
    )


def extra(assertion: Assertion) -> str:
    """The reference answer and the file's own grading prompt, for the judge."""
    parts = []
    reference, prompt = assertion.parameters.get("reference"), assertion.parameters.get("prompt")
    if reference:
        parts.append(f"Reference answer: {plain(reference)}")
    if prompt:
        parts.append(f"Grade by these instructions: {_TEMPLATE.sub(_placeholder, plain(prompt))}")
    return " ".join(parts)


def _placeholder(match: re.Match[str]) -> str:
    return PLACEHOLDERS.get(match[1], match[1].replace("_", " "))


def least_of(record: Mapping[str, object]) -> Decimal | None:
    """The least score for a pass, 0 to 1. `required_min_score` is from 0 to 10."""
    for key, most in (("min_score", ONE), ("required_min_score", TEN)):
        if record.get(key) is not None:
            number = number_of(record[key], key, ONE)
            if number > most:
                most = TEN
            if not 0 <= number <= most:
                raise Refusal(f"{key} must be between 0 and {most}.")
            return number / most
    return None


def number_of(value: object, name: str, default: Decimal) -> Decimal:
    if value is None:
        return default
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        raise Refusal(f"{name} must be a number.") from None
    if not number.is_finite() or number < 0:
        raise Refusal(f"{name} must be a number from 0.")
    return number


def ranges_words(ranges: object) -> str:
    """Score ranges as text, lowest first, on a scale from 0 to 1."""
    if ranges is None:
        return ""
    levels = sorted(_levels(ranges))
    for (_, high, _), (low, _, _) in itertools.pairwise(levels):
        if low <= high:
            raise Refusal(f"score_ranges overlap: one ends at {high:f} and another starts at {low:f}.")
    most = TEN if levels[-1][1] > 1 else ONE
    return " ".join(_range_words(low / most, high / most, meaning) for low, high, meaning in levels)


def _levels(ranges: object) -> list[tuple[Decimal, Decimal, str]]:
    """Each range with its meaning. A mapping gives single scores: `{0: Wrong., 10: Right.}`."""
    if isinstance(ranges, Mapping) and ranges:
        pairs: list[tuple[object, object]] = [([score, score], meaning) for score, meaning in ranges.items()]
    elif isinstance(ranges, list | tuple) and ranges:
        pairs = [_pair(entry) for entry in ranges]
    else:
        raise Refusal("score_ranges must be a list of ranges, each with score_range and outcome.")
    return [(*_bounds(bounds), plain(meaning).strip()) for bounds, meaning in pairs]


def _pair(entry: object) -> tuple[object, object]:
    if not isinstance(entry, Mapping) or entry.get("score_range") is None:
        raise Refusal("each entry of score_ranges must have score_range and outcome.")
    meaning = next((entry[key] for key in TEXT_KEYS if isinstance(entry.get(key), str)), None)
    if meaning is None:
        raise Refusal("each entry of score_ranges must have score_range and outcome.")
    return entry["score_range"], meaning


def _bounds(value: object) -> tuple[Decimal, Decimal]:
    problem = "score_range must be two numbers from 0 to 10, the lower first, such as [0, 3]."
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise Refusal(problem)
    low, high = (number_of(part, "score_range", ONE) for part in value)
    if not 0 <= low <= high <= TEN:
        raise Refusal(problem)
    return low, high


def _range_words(low: Decimal, high: Decimal, meaning: str) -> str:
    words = [f"{value.normalize():f}" for value in (low, high)]
    return f"{words[0]}: {meaning}" if low == high else f"From {words[0]} to {words[1]}: {meaning}"
