"""Scores as people write them: `7`, `7.5`, `~7`, `5*`, `**8**`, `7/10`, `6,5`. What is no score is none."""

import re
from dataclasses import dataclass
from decimal import Decimal

NOTHING = frozenset({"", "-", "–", "—", "?", "n/a", "na", "none", "null", "tbd", "unscored"})
WRITTEN = re.compile(
    r"(?P<about>[~≈]|ca\.?|about)?\s*(?P<number>-?\d{1,6}(?:[.,]\d{1,6})?)\s*"
    r"(?:(?:/|out\s+of)\s*(?P<of>\d{1,4}))?\s*(?P<mark>[*†‡]{1,3})?\Z",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Written:
    """A score that was read, with what about it a reader should know."""

    value: Decimal
    notes: tuple[str, ...] = ()


def written_score(text: str, *, top: int = 10) -> Written | None:
    """The number that the cell states; None where it states none."""
    plain = unmarked(text)
    match = WRITTEN.match(plain)
    if match is None or (match["of"] and int(match["of"]) != top):
        return None
    notes = []
    if match["about"]:
        notes.append(f"“{plain}” is an estimate; it is read as {match['number']}.")
    if match["mark"]:
        notes.append(f"“{plain}” has a mark behind it; it is read as {match['number']}.")
    if "," in match["number"]:
        notes.append(f"“{plain}” is read with a decimal comma.")
    return Written(Decimal(match["number"].replace(",", ".")), tuple(notes))


def unmarked(text: str) -> str:
    """The cell without Markdown's signs for bold, italic and code around it; a mark behind a number stays."""
    plain = text.strip()
    for sign in ("**", "__", "`", "*", "_"):
        if len(plain) > 2 * len(sign) and plain.startswith(sign) and plain.endswith(sign):
            plain = plain[len(sign) : -len(sign)].strip()
    return plain


def is_nothing(text: str) -> bool:
    return unmarked(text).casefold() in NOTHING


def agrees(stated: Decimal, computed: Decimal) -> bool:
    """Whether a stated figure is the computed one as far as its digits go."""
    exponent = stated.as_tuple().exponent
    digits = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    return abs(stated - computed) <= Decimal(5).scaleb(-digits - 1)
