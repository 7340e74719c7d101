"""Which criterion an issue is about. Judges name issues without one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from refinement.taxonomy.words import stems

FEWEST_SHARED, SHARE = 2, 0.4  # words in common with a criterion's texts
MARGIN = 1  # more than with any other criterion's
_LEADING = re.compile(r"^\W*(\w[\w\s-]{0,50}?)\s*(?:\(|\)|\]|:|–|—| - )")


@dataclass(frozen=True, slots=True)
class Scored:
    """A criterion as a verdict has it: its name, its score, and what was said about it."""

    key: str
    name: str
    score: float
    said: str = ""  # reasoning and improvement
    description: str = ""


class About(NamedTuple):
    """A criterion's key, and whether the issue's own words say so."""

    key: str
    sure: bool


def criterion_of(issue: str, criteria: Sequence[Scored]) -> About:
    """The criterion that the issue names, or shares clearly most words with; else the lowest one, as a guess.

    Empty if there are no criteria.
    """
    if named := _named(issue, criteria):
        return About(named, True)
    lowest = sorted(criteria, key=lambda entry: entry.score)
    if not lowest:
        return About("", False)
    words = set(stems(issue))
    shares = sorted(((_shared(words, entry), entry.key) for entry in lowest), key=lambda share: -share[0])
    most, second = shares[0][0], shares[1][0] if len(shares) > 1 else 0
    if most >= max(FEWEST_SHARED, SHARE * len(words)) and most >= second + MARGIN:
        return About(shares[0][1], True)
    return About(lowest[0].key, False)


def _named(issue: str, criteria: Sequence[Scored]) -> str:
    """The criterion that stands before the issue, as in "Grounded: …" or "[depth] …"."""
    found = _LEADING.match(issue[:80])
    label = found.group(1).casefold().replace("-", " ").replace("_", " ").strip() if found else ""
    keys: Mapping[str, str] = {
        words.casefold().replace("_", " ").replace("-", " "): entry.key
        for entry in criteria
        for words in (entry.key, entry.name)
    }
    return keys.get(label, "")


def _shared(words: set[str], entry: Scored) -> float:
    """How many words are shared; those of the criterion's own name and description count half more."""
    said, own = set(stems(entry.said)), set(stems(f"{entry.name} {entry.description}"))
    return len(words & said) + 1.5 * len(words & own)
