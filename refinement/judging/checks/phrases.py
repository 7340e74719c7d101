"""Checks on words: contains, not-contains, equals, starts-with, regex, no-placeholders."""

from collections.abc import Iterable

from refinement.engine.types import Place
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
from refinement.judging.checks.patterns import FLAGS, TooSlow, first_match, first_phrase, pattern_problems

MAX_PATTERNS = 100

# Separate patterns, so that a rubric can remove or add one.
PLACEHOLDERS = (
    r"\b(?:TO-?DO|FIX-?ME|TBD|TBC|XXX+)\b",
    r"(?i)\blorem ipsum\b",
    r"(?i)\[(?:insert|add|enter|fill in|describe|your|placeholder)\b[^\]\n]{0,80}\](?![(\[:])",
    r"(?i)<(?:your|insert|enter|placeholder)\b[ _-]?[^<>\n]{0,80}>",
    r"(?i)\{\{\s*(?:your|insert|placeholder)(?![a-z])[^{}\n]{0,80}\}\}",
    r"(?i)(?:\.\.\.|…)\s*\(?(?:the )?(?:rest|remaining|remainder|existing|previous)\b[^\n]{0,60}",
    r"(?i)\brest of (?:the |this )?\w+ (?:remains |is |stays )?(?:unchanged|the same|as before|omitted)\b",
)


def run_contains(parameters: Parameters, candidate: str) -> Finding:
    if _phrase(parameters, candidate):
        return PASSED
    return Finding(False, f"The text {quoted(str(parameters['text']))} is missing.")


def run_not_contains(parameters: Parameters, candidate: str) -> Finding:
    place = _phrase(parameters, candidate)
    if place is None:
        return PASSED
    return Finding(False, f"The text {quoted(str(parameters['text']))} must not occur.", place)


def _phrase(parameters: Parameters, candidate: str) -> Place | None:
    return first_phrase(str(parameters["text"]), candidate, ignore_case=bool(parameters["ignore_case"]))


def run_equals(parameters: Parameters, candidate: str) -> Finding:
    if _folded(parameters, candidate) == _folded(parameters, str(parameters["text"])):
        return PASSED
    return Finding(False, f"The text must be exactly {quoted(str(parameters['text']))}.")


def run_starts_with(parameters: Parameters, candidate: str) -> Finding:
    if _folded(parameters, candidate).startswith(_folded(parameters, str(parameters["text"]))):
        return PASSED
    return Finding(False, f"The text must begin with {quoted(str(parameters['text']))}.")


def _folded(parameters: Parameters, text: str) -> str:
    """The text to compare, without surrounding whitespace."""
    return text.strip().casefold() if parameters["ignore_case"] else text.strip()


def run_regex(parameters: Parameters, candidate: str) -> Finding:
    pattern = str(parameters["pattern"])
    try:
        place = first_match(pattern, candidate, _letters(parameters))
    except TooSlow as error:
        return Finding(False, str(error))
    if (place is not None) == parameters["must_match"]:
        return PASSED
    if place is None:
        return Finding(False, f"Nothing matches the pattern {quoted(pattern)}.")
    matched = quoted(candidate[place.start : place.end])
    return Finding(False, f"{matched} matches the pattern {quoted(pattern)}, which must not match.", place)


def regex_problems(parameters: Parameters) -> list[str]:
    unknown = sorted(set(_letters(parameters)) - set(FLAGS))
    if unknown:
        return [f"Unknown flags {', '.join(unknown)}; the flags are {', '.join(FLAGS)}."]
    return pattern_problems("Pattern", str(parameters["pattern"]), _letters(parameters))


def _letters(parameters: Parameters) -> str:
    return str(parameters["flags"] or "")


def run_no_placeholders(parameters: Parameters, candidate: str) -> Finding:
    """Fails at the first placeholder in the text."""
    try:
        places = [first_match(pattern, candidate) for pattern in _lines(parameters["patterns"])]
    except TooSlow as error:
        return Finding(False, str(error))
    first = min((place for place in places if place), key=lambda place: place.start, default=None)
    if first is None:
        return PASSED
    return Finding(False, f"A placeholder is left: {quoted(candidate[first.start : first.end])}.", first)


def placeholder_problems(parameters: Parameters) -> list[str]:
    patterns = _lines(parameters["patterns"])
    if not 1 <= len(patterns) <= MAX_PATTERNS:
        return [f"Give 1 to {MAX_PATTERNS} patterns."]
    return [
        problem
        for number, pattern in enumerate(patterns, start=1)
        for problem in pattern_problems(f"Pattern {number}", pattern)
    ]


def _lines(value: object) -> tuple[str, ...]:
    return tuple(str(line) for line in value) if isinstance(value, Iterable) else ()


_TEXT = Parameter("text", "Text", ParameterType.TEXT, required=True)
_IGNORE_CASE = Parameter("ignore_case", "Ignore case", ParameterType.FLAG, default=False)

KINDS = (
    CheckKind("contains", "Contains", "The text must occur.", (_TEXT, _IGNORE_CASE), run_contains),
    CheckKind(
        "not-contains",
        "Does not contain",
        "The text must not occur.",
        (_TEXT, _IGNORE_CASE),
        run_not_contains,
    ),
    CheckKind(
        "equals",
        "Equals",
        "The whole text must be this. Surrounding whitespace is ignored.",
        (_TEXT, _IGNORE_CASE, NEGATE),
        negatable(run_equals, lambda parameters: f"The text is exactly {quoted(str(parameters['text']))}"),
    ),
    CheckKind(
        "starts-with",
        "Starts with",
        "The text must start with this. Leading whitespace is ignored.",
        (_TEXT, _IGNORE_CASE, NEGATE),
        negatable(
            run_starts_with, lambda parameters: f"The text begins with {quoted(str(parameters['text']))}"
        ),
    ),
    CheckKind(
        "regex",
        "Regular expression",
        "A pattern must match, or must not match.",
        (
            Parameter("pattern", "Pattern", ParameterType.TEXT, required=True),
            Parameter(
                "flags",
                "Flags",
                ParameterType.TEXT,
                description="Letters: i ignores case, m lets ^ and $ match at each line, "
                "s lets . match line ends, x ignores spaces in the pattern.",
            ),
            Parameter(
                "must_match",
                "Must match",
                ParameterType.FLAG,
                default=True,
                description="On: the pattern must match. Off: it must not match.",
            ),
        ),
        run_regex,
        regex_problems,
    ),
    CheckKind(
        "no-placeholders",
        "No placeholders",
        "The text must not contain placeholders.",
        (
            Parameter(
                "patterns",
                "Patterns",
                ParameterType.LINES,
                default=PLACEHOLDERS,
                required=True,
                description="Regular expressions, one per line. A text that matches any of them fails.",
            ),
        ),
        run_no_placeholders,
        placeholder_problems,
    ),
)
