"""Which criterion an issue is about. Judges name issues without one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refinement.taxonomy.words import stems

FEWEST_SHARED = 2  # words with a criterion's texts
_LEADING = re.compile(r"^\W*(\w[\w\s-]{0,50}?)\s*(?:\(|\)|\]|:|–|—| - )")


@dataclass(frozen=True, slots=True)
class Scored:
    """A criterion as a verdict has it: its name, its score, and what was said about it."""

    key: str
    name: str
    score: float
    said: str = ""  # reasoning and improvement
    description: str = ""


def criterion_of(issue: str, criteria: Sequence[Scored]) -> str:
    """The key of the criterion that the issue names or shares most words with; else the lowest one.

    Empty if there are no criteria. Of several that fit as well, it is the one with the lowest score.
    """
    if not criteria:
        return ""
    if named := _named(issue, criteria):
        return named
    words = set(stems(issue))
    shares = {entry.key: _shared(words, entry) for entry in criteria}
    lowest = sorted(criteria, key=lambda entry: entry.score)
    best = max(lowest, key=lambda entry: shares[entry.key])
    return best.key if shares[best.key] >= FEWEST_SHARED else lowest[0].key


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
