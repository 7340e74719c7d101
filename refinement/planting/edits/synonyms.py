"""Replaces words by others of the same meaning, from a fixed list. English only."""

import re
from random import Random

from refinement.planting.documents import PROSE, Document
from refinement.planting.kinds import Made, listed

MOST = 12
# Pairs that fit whatever the sentence is. A word that may be another part of speech is only replaced.
BOTH_WAYS = (
    ("for example", "for instance"),
    ("often", "frequently"),
    ("nearly", "almost"),
    ("maybe", "perhaps"),
    ("usually", "typically"),
    ("sometimes", "occasionally"),
    ("entirely", "completely"),
    ("especially", "particularly"),
    ("approximately", "roughly"),
    ("rarely", "seldom"),
    ("quickly", "rapidly"),
    ("moreover", "furthermore"),
    ("therefore", "consequently"),
)
ONE_WAY = (
    ("big", "large"),
    ("bigger", "larger"),
    ("biggest", "largest"),
    ("mistake", "error"),
    ("mistakes", "errors"),
    ("begin", "start"),
    ("begins", "starts"),
    ("began", "started"),
    ("utilize", "use"),
    ("utilizes", "uses"),
    ("utilized", "used"),
    ("demonstrate", "show"),
    ("demonstrates", "shows"),
    ("demonstrated", "showed"),
    ("assist", "help"),
    ("assists", "helps"),
    ("obtain", "get"),
    ("obtains", "gets"),
    ("ensure", "make sure"),
    ("ensures", "makes sure"),
    ("rapid", "fast"),
    ("numerous", "many"),
    ("whilst", "while"),
    ("immediately", "at once"),
    ("initially", "at first"),
    ("eventually", "in the end"),
    ("currently", "at present"),
    ("in order to", "so as to"),
    ("although", "though"),
    ("begun", "started"),
)
SYNONYMS = {**dict(ONE_WAY), **dict(BOTH_WAYS), **{second: first for first, second in BOTH_WAYS}}
# After "a" or "an", the new word could need the other article; "as though" is not "as although".
WORDS = re.compile(
    r"(?<!\ba )(?<!\ban )(?<!\bas )(?<!\beven )(?<![\w'’-])(?:"
    + "|".join(sorted(map(re.escape, SYNONYMS), key=len, reverse=True))
    + r")(?![\w'’-])",
    re.IGNORECASE,
)


def replace_synonyms(document: Document, chance: Random) -> Made | None:
    """Replaces up to twelve words."""
    found = [match for match in document.found(WORDS, PROSE) if _fits(match.group())]
    if not found:
        return None
    chosen = sorted(chance.sample(found, min(MOST, len(found))), key=lambda match: match.start())
    changes = [(*match.span(), synonym(match.group())) for match in chosen]
    pairs = list(
        dict.fromkeys(f"{match.group().lower()} by {synonym(match.group().lower())}" for match in chosen)
    )
    return Made(document.replaced(changes), f"Replaced {listed(pairs)}.")


def synonym(word: str) -> str:
    """Of the same meaning, and with a capital where the word has one."""
    new = SYNONYMS[word.lower()]
    return new[0].upper() + new[1:] if word[0].isupper() else new


def _fits(word: str) -> bool:
    """Not a word in capitals, which may be a name."""
    return word[1:].islower()
