"""Reads one score as an exact number on the scale, or returns a complaint.

A number may be text ("7", "7.0", "7/10", "7 out of 10", "7 (good)"), and "8,5" is 8.5. The number after "/"
or "out of" must be the scale's maximum. Nothing is rounded or guessed: a range, a percentage, a sum, true,
null and NaN are complaints.
"""

import re
from dataclasses import dataclass
from decimal import Decimal

from refinement.engine.types import Scale
from refinement.judging.parsing.cleaning import shown
from refinement.judging.schema import scale_in_words

MAX_NUMBER_CHARS = 24  # below Decimal's 28 digits, so that arithmetic stays exact
MAX_DECIMALS = 20
MAX_SCORE_TEXT = 400

NUMBER = r"[-+]?(?:\d+(?:[.,]\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
CEILING_WORDS = r"(?:/|out\s+of\b|of\b|von\b|sur\b|de\b|su\b|sobre\b)"
SCORE_TEXT = re.compile(
    rf"(?:(?:score|rating)\s*[:=]\s*)?(?P<number>{NUMBER})"
    rf"(?:\s*\(?\s*{CEILING_WORDS}\s*(?P<ceiling>{NUMBER})\s*\)?)?"
    r"(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
HARMLESS_REST = re.compile(r"\.?(?:(?:[\s(,;:–—]|-\s)(?!\s*(?:%|percent))[^\d%]*)?")
EMPHASIS = " \t\r\n*_`\"'“”"


class _Missing:
    """A missing score. Null, empty text and a missing key are treated the same."""


MISSING = _Missing()


@dataclass(frozen=True, slots=True)
class ScoreReading:
    """A score and the problem with it. Without a problem, `value` is on the scale."""

    value: Decimal | None
    problem: str = ""

    @property
    def stated(self) -> bool:
        return self.value is not None


def read_score(key: str, raw: object, scale: Scale) -> ScoreReading:
    """The score of a criterion. `problem` is a sentence if it is missing or not on the scale."""
    text = _written(raw)
    if not text:
        return ScoreReading(None, f"The score of {key} is missing.")
    value, ceiling = _numbers(text)
    if value is None:
        return ScoreReading(None, f"{key}: {shown(text)} is not a score: give {scale_in_words(scale)}.")
    if ceiling is not None and ceiling != scale.maximum:
        problem = f"{key}: {shown(text)} does not end at the scale's maximum: give {scale_in_words(scale)}."
        return ScoreReading(value, problem)
    if not scale.admits(value):
        return ScoreReading(value, f"{key}: {shown(text)} is not on the scale: {scale_in_words(scale)}.")
    return ScoreReading(_canonical(value))


def states_number(raw: object) -> bool:
    """Whether the value contains a digit."""
    return any(character.isdigit() for character in _written(raw))


def _written(raw: object) -> str:
    if isinstance(raw, bool):
        return str(raw).lower()
    if isinstance(raw, (str, int, Decimal)):
        return str(raw).strip(EMPHASIS)
    return "" if raw is None or isinstance(raw, _Missing) else type(raw).__name__


def _numbers(text: str) -> tuple[Decimal | None, Decimal | None]:
    match = SCORE_TEXT.match(text[:MAX_SCORE_TEXT])
    if match is None or not HARMLESS_REST.fullmatch(match["rest"]):
        return None, None
    value = _decimal(match["number"])
    if match["ceiling"] is None or value is None:
        return value, None
    ceiling = _decimal(match["ceiling"])
    return (None, None) if ceiling is None else (value, ceiling)


def _decimal(digits: str) -> Decimal | None:
    whole, comma, part = digits.partition(",")
    if len(digits) > MAX_NUMBER_CHARS or (comma and len(part) > 2):
        return None
    number = Decimal(f"{whole}.{part}" if comma else digits)
    exponent = number.as_tuple().exponent
    return None if isinstance(exponent, int) and exponent < -MAX_DECIMALS else number


def _canonical(value: Decimal) -> Decimal:
    return Decimal(int(value)) if value == value.to_integral_value() else value.normalize()
