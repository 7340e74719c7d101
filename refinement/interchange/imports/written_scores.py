"""Reads scores as people write them: `7`, `7.5`, `~7`, `5*`, `**8**`, `7/10`, `6,5`, `8 (+1)`, `8 ↑`."""

import re
from dataclasses import dataclass
from decimal import Decimal

NOTHING = frozenset({"", "-", "–", "—", "?", "n/a", "na", "none", "null", "tbd", "unscored"})
MOST_CHARS = 60
ESTIMATE = "An estimate; the number is read as it is."
MARKED = "A score with a footnote mark; the mark is ignored."
COMMA = "Read with a decimal comma."
BOLD = re.compile(r"\A(\*\*|__)([^*_]+)\1")
WRITTEN = re.compile(
    r"(?P<about>[~≈]|ca\.?|about)?\s*(?P<number>-?\d{1,6}(?:[.,]\d{1,6})?)\s*"
    r"(?:(?:/|out\s+of)\s*(?P<of>\d{1,4}))?\s*(?P<mark>[*†‡]{1,3})?"
    r"(?P<after>\s*(?:\(\s*[-+±−]\s*\d{1,3}(?:\.\d{1,3})?\s*\)|[↑↓→▲▼✓✔✅⭐★🏆⬆⬇\ufe0f]"
    r"|\(?(?:new )?best\)?))*\Z",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Written:
    """A score, with notes about how it was read. The notes name no values, so that they can be grouped."""

    value: Decimal
    notes: tuple[str, ...] = ()


def written_score(text: str, *, top: int = 10) -> Written | None:
    """The score in the cell; None if there is none."""
    plain = BOLD.sub(r"\2", unmarked(text))
    match = WRITTEN.match(plain) if len(plain) <= MOST_CHARS else None
    if match is None or (match["of"] and int(match["of"]) != top):
        return None
    notes = []
    if match["about"]:
        notes.append(ESTIMATE)
    if match["mark"]:
        notes.append(MARKED)
    if "," in match["number"]:
        notes.append(COMMA)
    return Written(Decimal(match["number"].replace(",", ".")), tuple(notes))


def unmarked(text: str) -> str:
    """The cell without surrounding Markdown for bold, italic and code. A mark after a number stays."""
    plain = text.strip()
    for sign in ("**", "__", "`", "*", "_"):
        if len(plain) > 2 * len(sign) and plain.startswith(sign) and plain.endswith(sign):
            plain = plain[len(sign) : -len(sign)].strip()
    return plain


def is_nothing(text: str) -> bool:
    return unmarked(text).casefold() in NOTHING


def agrees(stated: Decimal, computed: Decimal) -> bool:
    """Whether the stated value equals the computed one, rounded to the same digits."""
    exponent = stated.as_tuple().exponent
    digits = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    return abs(stated - computed) <= Decimal(5).scaleb(-digits - 1)
