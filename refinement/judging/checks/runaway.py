"""Patterns that run away: tried on short texts that make such patterns slow, before they are saved."""

import re

from refinement.engine.types import Check
from refinement.judging.checks.patterns import TIMEOUT_SECONDS, TooSlow, first_match

PROBE_CHARS = 2_000
MOST_LETTERS = 6


def runaway_problems(check: Check) -> list[str]:
    """Says so if a pattern of the check needs more time than it has, even on a short text."""
    for pattern, letters in patterns_of(check):
        if runs_away(pattern, letters):
            return [
                f"Pattern “{pattern[:80]}” takes longer than {TIMEOUT_SECONDS:g} seconds on a text of "
                f"{PROBE_CHARS:,} characters. Make it simpler: no repetition inside a repetition."
            ]
    return []


def patterns_of(check: Check) -> list[tuple[str, str]]:
    """The patterns that the check was given, each with its flags."""
    if check.kind == "regex":
        return [(str(check.parameters["pattern"]), str(check.parameters.get("flags") or ""))]
    given = check.parameters.get("patterns", ())
    return [(str(line), "") for line in given] if isinstance(given, (list, tuple)) else []


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
