"""Changes numbers to others that are plainly different."""

import re
from random import Random

from refinement.planting.documents import Document
from refinement.planting.kinds import Made, listed
from refinement.planting.language import is_english

MOST = 3
# Not inside words, versions, dates, times, paths or identifiers.
NUMBER = re.compile(
    r"(?<![A-Za-zÀ-ɏ0-9_.,:/#&\-\\])(\d{1,3}(?:,\d{3}){1,5}|[1-9]\d{0,14}|0)(\.\d{1,8})?"
    r"(?![A-Za-zÀ-ɏ0-9_:/\-\\]|[.,]\d)",
    re.ASCII,
)
DATA_NUMBER = re.compile(r"(?<=[:\[,]) ?(?P<whole>[1-9]\d{0,14})(\.\d{1,8})?(?=\s*[,\]}\n])")
SPELLED = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
SPELLED_NUMBER = re.compile(rf"(?<![\w'’-])(?:{'|'.join(SPELLED)})(?![\w'’-])", re.IGNORECASE)
KINDS = ("paragraph", "item", "quote", "table")


def change_numbers(document: Document, chance: Random) -> Made | None:
    """Changes up to three numbers; where there are no digits, numbers that are spelled out in English."""
    places = _places(document)
    spelled = [] if places or not is_english(document.text) else list(document.found(SPELLED_NUMBER, KINDS))
    if not places and not spelled:
        return None
    if places:
        chosen = sorted(chance.sample(places, min(MOST, max(1, len(places) // 2))))
        changes = [
            (start, end, changed(document.text[start:end], chance, _after(document, end)))
            for start, end in chosen
        ]
    else:
        words = sorted(chance.sample(spelled, min(MOST, max(1, len(spelled) // 2))), key=lambda m: m.start())
        changes = [(*found.span(), _spelled_otherwise(found.group(), chance)) for found in words]
    what = listed([f"{document.text[start:end]} to {new}" for start, end, new in changes])
    return Made(document.replaced(changes), f"Changed {what}.")


def _places(document: Document) -> list[tuple[int, int]]:
    if document.is_data:
        found = DATA_NUMBER.finditer(document.text, 0, document.most)
        return [(match.start("whole"), match.end()) for match in found]
    return [match.span() for match in document.found(NUMBER, KINDS)]


def _after(document: Document, end: int) -> str:
    return document.text[end : end + 2].lstrip()[:1]


def changed(number: str, chance: Random, after: str = "") -> str:
    """Another number in the same form: years stay years, and shares of a hundred stay below it."""
    whole, _, decimals = number.partition(".")
    value = int(whole.replace(",", ""))
    if not decimals and len(whole) == 4 and 1900 <= value <= 2100:
        new = value + chance.choice((-1, 1)) * chance.randint(3, 17)
    elif after == "%" and value <= 100:
        new = (value + chance.randint(25, 60)) % 99 + (0 if decimals else 1)
    elif value <= 10:
        new = value + chance.randint(3, 6)
    else:
        new = round(value * chance.choice((0.4, 0.6, 1.7, 2.5)))
        new = _as_round(value, new)
    if new == value:
        new += 5
    written = f"{new:,}" if "," in whole else str(new)
    return f"{written}.{decimals}" if decimals else written


def _as_round(value: int, new: int) -> int:
    """500 becomes 900, not 851."""
    zeros = len(str(value)) - len(str(value).rstrip("0"))
    rounded = round(new, -min(zeros, len(str(new)) - 1))
    return rounded if rounded not in (0, value) else new


def _spelled_otherwise(word: str, chance: Random) -> str:
    at = SPELLED.index(word.lower())
    new = SPELLED[(at + chance.randint(3, 6)) % len(SPELLED)]
    return new.capitalize() if word[0].isupper() else new
