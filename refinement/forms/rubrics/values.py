"""Parsing of single values; errors say what to do."""

import json
import re
import shlex
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from typing import Any

from refinement.engine.kinds import MinimumGain
from refinement.engine.panels import names_model
from refinement.forms.rubrics.kinds import COLUMN_LIMIT, COLUMN_PLACES, Kind, Setting

MOST_PARTS = 60  # of a command
_NUMBER = re.compile(r"[+-]?(?:\d{1,12}(?:\.\d*)?|\.\d+)")
_WHOLE = re.compile(r"[+-]?\d{1,12}")
KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class Refused(ValueError):
    """An invalid value; the message is for the user."""


def tidy(text: str) -> str:
    """Normalises line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def text_within(text: str, limit: int) -> str:
    if len(text) > limit:
        raise Refused(f"{len(text):,} characters; at most {limit:,} are allowed. Shorten it.")
    return text


def number_of(text: str, low: Decimal | None, high: Decimal | None, places: int) -> Decimal:
    """A decimal number within its limits."""
    typed = text.strip()
    if not _NUMBER.fullmatch(typed):
        hint = " Use a point, not a comma." if "," in typed else ""
        raise Refused(f"Not a number.{hint} Enter one such as 0.5 or 8.")
    if len(typed.partition(".")[2]) > places:
        raise Refused(f"At most {places} decimals.")
    return _within(Decimal(typed), low, high)


def whole_of(text: str, low: Decimal | None, high: Decimal | None) -> int:
    """A whole number within its limits."""
    if not _WHOLE.fullmatch(text.strip()):
        raise Refused("Not a whole number. Enter digits only, such as 4 or 24000.")
    return int(_within(Decimal(text.strip()), low, high))


def _within(number: Decimal, low: Decimal | None, high: Decimal | None) -> Decimal:
    if low is not None and high is not None and not low <= number <= high:
        raise Refused(f"Must be between {low:,f} and {high:,f}.")
    if low is not None and number < low:
        raise Refused(f"Must be {low:,f} or more.")
    return number


def weight_of(text: str) -> Decimal:
    """A positive weight within the column's limit."""
    if not text.strip():
        raise Refused("Enter a weight greater than 0, such as 1.")
    weight = number_of(text, None, None, COLUMN_PLACES)
    if weight <= 0:
        raise Refused("Must be greater than 0. Remove the entry if it should not count.")
    if weight > COLUMN_LIMIT:
        raise Refused(f"Must be {COLUMN_LIMIT:,} or less.")
    return weight


def key_of(text: str, was: str, limit: int) -> str:
    """A short name for files and prompts. An existing key may stay as it is."""
    key = text.strip()
    if not key:
        raise Refused("Enter a name.")
    text_within(key, limit)
    if key != was and not KEY.fullmatch(key):
        raise Refused("Use only letters a to z, digits, hyphens, dots and underscores, without spaces.")
    return key


def choice_of(text: str, choices: Any) -> str:
    allowed = [str(choice.value if isinstance(choice, Enum) else choice) for choice in choices]
    if text not in allowed:
        raise Refused("Choose one of the options.")
    return text


def words_of(text: str) -> list[str]:
    """Distinct words separated by commas, spaces or lines."""
    return list(dict.fromkeys(word for word in re.split(r"[\s,]+", text) if word))


def command_of(text: str) -> list[str]:
    """The parts of a command line, with shell quoting."""
    try:
        parts = shlex.split(text)
    except ValueError:
        raise Refused("A quotation mark or a backslash is not closed.") from None
    if parts and not parts[0].strip():
        raise Refused("Enter a program: its name or path.")
    if len(parts) > MOST_PARTS:
        raise Refused(f"{len(parts)} parts; at most {MOST_PARTS} are allowed. Put them into a script.")
    return parts


def schema_of(text: str) -> dict[str, Any]:
    """A JSON schema, empty for an empty text. Whether it is valid is checked elsewhere."""
    if not text.strip():
        return {}
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Refused(f"Not valid JSON: {error.msg} at {where}.") from None
    except (ValueError, RecursionError):
        raise Refused(
            "This JSON cannot be parsed: a number is too long, or it is nested too deeply."
        ) from None
    if not isinstance(document, dict):
        raise Refused("A schema must be a JSON object.")
    return document


def model_of(text: str, limit: int) -> str:
    """A model as ENDPOINT/MODEL, or empty."""
    model = text_within(text.strip(), limit)
    if model and not names_model(model):
        raise Refused("Enter ENDPOINT/MODEL, such as ollama/qwen3:14b, or leave it empty.")
    return model


def lines_of(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


# Kinds whose text is read as it is, empty or not.
_WHOLE_TEXTS: dict[Kind, Callable[[str], Any]] = {
    Kind.WORDS: words_of,
    Kind.COMMAND: command_of,
    Kind.LINES: lines_of,
    Kind.SCHEMA: schema_of,
    Kind.TEXT: str,
    Kind.PATTERN: str,
}


def setting_value(setting: Setting, text: str) -> Any:
    """The field's value as stored in the JSON definition."""
    if setting.kind is Kind.FLAG:
        return bool(text)
    if setting.kind in _WHOLE_TEXTS:
        return _WHOLE_TEXTS[setting.kind](text_within(text, setting.limit))
    if setting.kind is Kind.MODEL:
        return model_of(text, setting.limit)
    if not text.strip():
        if setting.required:
            raise Refused("Required.")
        return "" if setting.kind is Kind.LINE else None
    if setting.kind is Kind.LINE:
        return text_within(text.strip(), setting.limit)
    if setting.kind is Kind.CHOICE:
        return choice_of(text, setting.choices)
    if setting.kind is Kind.GAIN and text.strip().casefold() == MinimumGain.NOISE:
        return str(MinimumGain.NOISE)
    if setting.kind is Kind.WHOLE:
        return whole_of(text, setting.low, setting.high)
    return str(number_of(text, setting.low, setting.high, setting.places))
