"""Single values as people type them: read, or refused with a sentence that says what to do."""

import re
import shlex
from decimal import Decimal
from enum import Enum
from typing import Any

from refinement.forms.rubrics.settings import COLUMN_LIMIT, COLUMN_PLACES, Kind, Setting

MOST_PARTS = 60  # of a command
_NUMBER = re.compile(r"[+-]?(?:\d{1,12}(?:\.\d*)?|\.\d+)")
_WHOLE = re.compile(r"[+-]?\d{1,12}")
KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class Refused(ValueError):
    """A value that cannot stay; the message is for the person who typed it."""


def tidy(text: str) -> str:
    """Line ends as every text here has them; a browser sends others."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def text_within(text: str, limit: int) -> str:
    if len(text) > limit:
        raise Refused(f"This has {len(text):,} characters; at most {limit:,} fit here. Shorten it.")
    return text


def number_of(text: str, low: Decimal | None, high: Decimal | None, places: int) -> Decimal:
    """A decimal number within its limits."""
    typed = text.strip()
    if not _NUMBER.fullmatch(typed):
        hint = " Write a point, not a comma." if "," in typed else ""
        raise Refused(f"This is not a number.{hint} Write one such as 0.5 or 8.")
    if len(typed.partition(".")[2]) > places:
        raise Refused(f"At most {places} digits fit after the point.")
    return _within(Decimal(typed), low, high)


def whole_of(text: str, low: Decimal | None, high: Decimal | None) -> int:
    """A whole number within its limits."""
    if not _WHOLE.fullmatch(text.strip()):
        raise Refused("This is not a whole number. Write digits alone, such as 4 or 24000.")
    return int(_within(Decimal(text.strip()), low, high))


def _within(number: Decimal, low: Decimal | None, high: Decimal | None) -> Decimal:
    if low is not None and high is not None and not low <= number <= high:
        raise Refused(f"This must be between {low:,f} and {high:,f}.")
    if low is not None and number < low:
        raise Refused(f"This must be {low:,f} or more.")
    return number


def weight_of(text: str) -> Decimal:
    """A weight: greater than nothing, and small enough to be kept."""
    if not text.strip():
        raise Refused("A weight is missing. Write a number greater than 0, such as 1.")
    weight = number_of(text, None, None, COLUMN_PLACES)
    if weight <= 0:
        raise Refused("A weight must be greater than 0. Remove the entry if it should not count.")
    if weight > COLUMN_LIMIT:
        raise Refused(f"A weight can be {COLUMN_LIMIT:,} at most.")
    return weight


def key_of(text: str, was: str, limit: int) -> str:
    """A short name for files and prompts; one that is there already may stay as it is."""
    key = text.strip()
    if not key:
        raise Refused("A key is missing. Write a short word, such as depth.")
    text_within(key, limit)
    if key != was and not KEY.fullmatch(key):
        raise Refused("A key has only letters a to z, digits, hyphens, dots and underscores, without spaces.")
    return key


def choice_of(text: str, choices: Any) -> str:
    allowed = [str(choice.value if isinstance(choice, Enum) else choice) for choice in choices]
    if text not in allowed:
        raise Refused("Choose one of the values offered here.")
    return text


def words_of(text: str) -> list[str]:
    """Words between commas, spaces and lines, each once."""
    return list(dict.fromkeys(word for word in re.split(r"[\s,]+", text) if word))


def command_of(text: str) -> list[str]:
    """The parts of a command line, quotation marks taken as a shell takes them."""
    try:
        parts = shlex.split(text)
    except ValueError:
        raise Refused("A quotation mark or a backslash has no end. Close it.") from None
    if parts and not parts[0].strip():
        raise Refused("The program is missing. Begin with its name or its path.")
    if len(parts) > MOST_PARTS:
        raise Refused(f"This has {len(parts)} parts; at most {MOST_PARTS} fit. Put them into a script.")
    return parts


def setting_value(setting: Setting, text: str) -> Any:
    """What a definition keeps of this field, as JSON."""
    if setting.kind is Kind.FLAG:
        return bool(text)
    if setting.kind is Kind.WORDS:
        return words_of(text_within(text, setting.limit))
    if setting.kind is Kind.COMMAND:
        return command_of(text_within(text, setting.limit))
    if setting.kind is Kind.TEXT:
        return text_within(text, setting.limit)
    if not text.strip():
        if setting.required:
            raise Refused("This is needed. Fill it in.")
        return "" if setting.kind is Kind.LINE else None
    if setting.kind is Kind.LINE:
        return text_within(text.strip(), setting.limit)
    if setting.kind is Kind.CHOICE:
        return choice_of(text, setting.choices)
    if setting.kind is Kind.WHOLE:
        return whole_of(text, setting.low, setting.high)
    return str(number_of(text, setting.low, setting.high, setting.places))
