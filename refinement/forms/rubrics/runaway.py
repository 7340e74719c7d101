"""Patterns that run away: tried on short texts of the sort that makes them, before they are saved."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from refinement.judging.checks import CheckKind
from refinement.judging.checks.patterns import TIMEOUT_SECONDS, TooSlow, first_match

PROBE_CHARS = 2_000
MOST_LETTERS = 6


def runaway_problem(kind: CheckKind, parameters: Mapping[str, Any]) -> list[str]:
    """Says so if a pattern of the check needs more time than it has, even on a short text."""
    if kind.name == "regex":
        patterns = [(str(parameters["pattern"]), str(parameters.get("flags") or ""))]
    else:
        patterns = [(str(line), "") for line in parameters.get("patterns", ())]
    for pattern, letters in patterns:
        if runs_away(pattern, letters):
            return [
                f"Pattern “{pattern[:80]}” takes longer than {TIMEOUT_SECONDS:g} second on a text of "
                f"{PROBE_CHARS:,} characters. Make it simpler: no repetition inside a repetition."
            ]
    return []


@lru_cache(maxsize=1024)
def runs_away(pattern: str, letters: str) -> bool:
    try:
        for probe in probes(pattern):
            first_match(pattern, probe, letters)
    except TooSlow:
        return True
    return False


def probes(pattern: str) -> list[str]:
    """One letter over and over, then something unfit; the letters that the pattern names come first."""
    named = dict.fromkeys(re.sub(r"\\.", "", pattern))
    fitting = [letter for letter in named if letter.isalnum()][:MOST_LETTERS]
    return [letter * PROBE_CHARS + "\x01" for letter in dict.fromkeys([*fitting, "a", "0", " "])]
