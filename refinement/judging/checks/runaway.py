"""Detects patterns with catastrophic backtracking before a check is saved."""

import re

from refinement.engine.types import Check
from refinement.judging.checks.patterns import TIMEOUT_SECONDS, TooSlow, first_match

PROBE_CHARS = 2_000
MOST_LETTERS = 6


def runaway_problems(check: Check) -> list[str]:
    """An error if a pattern of the check exceeds the time limit even on a short text."""
    for pattern, letters in patterns_of(check):
        if runs_away(pattern, letters):
            return [
                f"Pattern “{pattern[:80]}” takes longer than {TIMEOUT_SECONDS:g} seconds on a text of "
                f"{PROBE_CHARS:,} characters. Make it simpler: no repetition inside a repetition."
            ]
    return []


def patterns_of(check: Check) -> list[tuple[str, str]]:
    """The check's patterns, each with its flags."""
    if check.kind == "regex":
        return [(str(check.parameters["pattern"]), str(check.parameters.get("flags") or ""))]
    patterns = check.parameters.get("patterns", ())
    return [(str(line), "") for line in patterns] if isinstance(patterns, (list, tuple)) else []


def runs_away(pattern: str, letters: str) -> bool:
    try:
        for probe in probes(pattern):
            first_match(pattern, probe, letters)
    except TooSlow:
        return True
    return False


def probes(pattern: str) -> list[str]:
    """Texts of one repeated letter and a character that cannot match, starting with the pattern's letters."""
    named = dict.fromkeys(re.sub(r"\\.", "", pattern))
    fitting = [letter for letter in named if letter.isalnum()][:MOST_LETTERS]
    return [letter * PROBE_CHARS + "\x01" for letter in dict.fromkeys([*fitting, "a", "0", " "])]
