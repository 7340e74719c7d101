"""What a check asks for, in a few words: for feedback and results."""

from collections.abc import Mapping

from refinement.engine.types import Check
from refinement.judging.checks.kinds import quoted
from refinement.judging.checks.transforming import TRANSFORMED, inner_of

MOST_LISTED = 5
PARTS: Mapping[str, tuple[str, str]] = {
    # kind: the words, and the parameter that they end with
    "contains": ("contains", "text"),
    "not-contains": ("does not contain", "text"),
    "contains-any": ("contains any of", "texts"),
    "contains-all": ("contains all of", "texts"),
    "equals": ("is exactly", "text"),
    "equals-json": ("is the JSON", "value"),
    "starts-with": ("starts with", "text"),
    "ends-with": ("ends with", "text"),
    "regex": ("matches", "pattern"),
    "is-json": ("is JSON", ""),
    "contains-json": ("contains JSON", ""),
    "json-schema": ("is JSON that follows the schema", ""),
    "is-xml": ("is XML", ""),
    "contains-xml": ("contains XML", ""),
    "is-html": ("is HTML", ""),
    "contains-html": ("contains HTML", ""),
    "is-refusal": ("is a refusal", ""),
    "levenshtein": ("is close to", "text"),
    "rouge-n": ("has the words of", "references"),
    "bleu": ("has the phrases of", "references"),
    "gleu": ("has the phrases of", "references"),
    "similar": ("means the same as", "references"),
    "javascript": ("is accepted by", "code"),
    "python": ("is accepted by", "code"),
    "latency": ("takes at most this many milliseconds:", "threshold"),
    "cost": ("costs at most", "threshold"),
    "token-usage": ("takes at most this many tokens:", "threshold"),
    "finish-reason": ("ends because of", "text"),
}


def expected_words(check: Check) -> str:
    """What the check asks for: `contains “Ada”`."""
    if check.kind == TRANSFORMED:
        return f"{expected_words(inner_of(check))} after its transform"
    if check.kind == "length":
        return _length(check.parameters)
    if check.kind == "command":
        return f"is accepted by {quoted(' '.join(_texts(check.parameters.get('command'))))}"
    words, name = PARTS.get(check.kind, (check.kind, ""))
    if check.parameters.get("negate") or check.parameters.get("must_match") is False:
        words = f"not: {words}"
    texts = _texts(check.parameters.get(name)) if name else []
    listed = ", ".join(quoted(text) for text in texts[:MOST_LISTED])
    return f"{words} {listed}".strip() + (" …" if len(texts) > MOST_LISTED else "")


def _texts(value: object) -> list[str]:
    if isinstance(value, (list, tuple)):
        return [_text(part) for part in value[: MOST_LISTED + 1]]
    return [] if value is None else [_text(value)]


def _text(value: object) -> str:
    """The value as text; parameters of a rubric can hold numbers and structures of any size."""
    try:
        return str(value)
    except (ValueError, RecursionError):
        return "…"


def _length(parameters: Mapping[str, object]) -> str:
    low, high = parameters.get("minimum"), parameters.get("maximum")
    unit = parameters.get("unit") or "characters"
    limits = [("at least", low), ("at most", high)]
    said = [f"{words} {_text(limit)}" for words, limit in limits if limit is not None]
    return f"has {' and '.join(said)} {_text(unit)}"
