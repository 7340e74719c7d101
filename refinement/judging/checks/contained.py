"""Checks on lists of words: contains-any, contains-all, ends-with, is-refusal."""

from collections.abc import Sequence

from refinement.judging.checks.kinds import (
    NEGATE,
    PASSED,
    CheckKind,
    Finding,
    Parameter,
    Parameters,
    ParameterType,
    negatable,
    quoted,
)
from refinement.judging.checks.patterns import first_match, first_phrase

MOST_TEXTS = 500

_CANNOT = r"(?:cannot|can['’]t|can not|won['’]t|will not|unable to|not able to|not going to)"
_HELP = (
    r"(?:help|assist|provide|create|generate|write|do|comply|fulfil|continue|support|engage|answer|discuss)"
)
REFUSALS = (
    rf"(?i)\b(?:i|we)(?:'m|’m| am|'re|’re| are)? {_CANNOT} {_HELP}",
    rf"(?i)\b(?:i['’]m|i am) (?:sorry|afraid)\b[^.\n]{{0,40}}\b{_CANNOT}\b",
    rf"(?i)\bas an ai\b[^.\n]{{0,60}}\b{_CANNOT}\b",
    r"(?i)\b(?:that|this|it) would (?:not be|be un|be in)\s*(?:ethical|appropriate|safe|legal)",
    r"(?i)\bi (?:must|have to) (?:decline|refuse)\b",
    r"(?i)\b(?:goes|is) against my (?:guidelines|programming|policies|principles)\b",
)


def texts_of(parameters: Parameters) -> Sequence[str]:
    value = parameters["texts"]
    return [str(text) for text in value] if isinstance(value, (list, tuple)) else []


def missing_from(parameters: Parameters, candidate: str) -> list[str]:
    ignore_case = bool(parameters["ignore_case"])
    return [
        text
        for text in texts_of(parameters)
        if first_phrase(text, candidate, ignore_case=ignore_case) is None
    ]


def listed(texts: Sequence[str]) -> str:
    shown = [quoted(text) for text in texts[:5]]
    return ", ".join(shown) + (f" and {len(texts) - 5} more" if len(texts) > 5 else "")


def run_contains_any(parameters: Parameters, candidate: str) -> Finding:
    texts = texts_of(parameters)
    if len(missing_from(parameters, candidate)) < len(texts):
        return PASSED
    return Finding(False, f"None of these texts occurs: {listed(texts)}.")


def run_contains_all(parameters: Parameters, candidate: str) -> Finding:
    missing = missing_from(parameters, candidate)
    if not missing:
        return PASSED
    texts = "text is" if len(missing) == 1 else "texts are"
    return Finding(False, f"The {texts} missing: {listed(missing)}.")


def texts_problems(parameters: Parameters) -> list[str]:
    texts = texts_of(parameters)
    if not 1 <= len(texts) <= MOST_TEXTS:
        return [f"Give 1 to {MOST_TEXTS} texts."]
    return [] if all(texts) else ["A text must not be empty."]


def run_ends_with(parameters: Parameters, candidate: str) -> Finding:
    text, end = candidate.strip(), str(parameters["text"]).strip()
    if parameters["ignore_case"]:
        text, end = text.casefold(), end.casefold()
    if text.endswith(end):
        return PASSED
    return Finding(False, f"The text must end with {quoted(str(parameters['text']))}.")


def run_is_refusal(parameters: Parameters, candidate: str) -> Finding:
    for pattern in REFUSALS:
        place = first_match(pattern, candidate)
        if place is not None:
            return Finding(True, place=place)
    return Finding(False, "The text does not refuse the task.")


_TEXTS = Parameter(
    "texts", "Texts", ParameterType.LINES, required=True, description="One per line, compared literally."
)
_TEXT = Parameter("text", "Text", ParameterType.TEXT, required=True)
_IGNORE_CASE = Parameter("ignore_case", "Ignore case", ParameterType.FLAG, default=False)

KINDS = (
    CheckKind(
        "contains-any",
        "Contains any",
        "At least one of the texts must occur.",
        (_TEXTS, _IGNORE_CASE, NEGATE),
        negatable(run_contains_any, lambda parameters: f"One occurs of {listed(texts_of(parameters))}"),
        texts_problems,
    ),
    CheckKind(
        "contains-all",
        "Contains all",
        "All of the texts must occur.",
        (_TEXTS, _IGNORE_CASE, NEGATE),
        negatable(run_contains_all, lambda parameters: f"All of these occur: {listed(texts_of(parameters))}"),
        texts_problems,
    ),
    CheckKind(
        "ends-with",
        "Ends with",
        "The text must end with this. Trailing whitespace is ignored.",
        (_TEXT, _IGNORE_CASE, NEGATE),
        negatable(run_ends_with, lambda parameters: f"The text ends with {quoted(str(parameters['text']))}"),
    ),
    CheckKind(
        "is-refusal",
        "Is a refusal",
        "The text must refuse the task.",
        (NEGATE,),
        negatable(run_is_refusal, lambda parameters: "The text refuses the task"),
    ),
)
