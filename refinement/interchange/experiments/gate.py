"""The gate of a suite's run: whether its results let a build pass. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WORSE = "worse"
NOT_COMPARABLE = "not_comparable"
BELOW = "below="


@dataclass(frozen=True, slots=True)
class Conditions:
    """What makes the gate fail.

    Without any, it only fails if a configuration has no score at all, or a judge that has not shown what the
    project requires.
    """

    worse: bool = False
    below: float | None = None

    @property
    def texts(self) -> list[str]:
        below = [] if self.below is None else [f"{BELOW}{self.below:g}"]
        return [*([WORSE] if self.worse else []), *below]


def conditions_from(texts: Sequence[str]) -> Conditions:
    """From values of --fail-on. Raises ValueError."""
    worse, below = False, None
    for text in texts:
        if text == WORSE:
            worse = True
            continue
        if not text.startswith(BELOW):
            raise ValueError(f"--fail-on {text} is unknown; use worse or below=X, such as below=7.5.")
        try:
            below = float(text.removeprefix(BELOW))
        except ValueError:
            below = -1.0
        if not 0 <= below <= 10:
            raise ValueError(f"--fail-on {text} needs a composite from 0 to 10, such as below=7.5.")
    return Conditions(worse, below)


def gate_of(
    configurations: Sequence[Mapping[str, Any]], conditions: Conditions, note: str = ""
) -> dict[str, Any]:
    """The gate's result. `configurations` are those of a report; `note` says what it was compared with."""
    failed: dict[str, list[str]] = {}
    for entry in configurations:
        if reasons := failures(entry, conditions):
            failed[entry["name"]] = reasons
    reasons = [reason for found in failed.values() for reason in found]
    return {
        "passed": not failed,
        "fail_on": conditions.texts,
        "failed": list(failed),
        "reasons": [*(reasons or ["No condition failed."]), *([note] if note else [])],
    }


def is_unproven(entry: Mapping[str, Any]) -> bool:
    """Whether the project requires a proven judge, and this configuration's is not."""
    return entry.get("judge_proven") is False


def failures(entry: Mapping[str, Any], conditions: Conditions) -> list[str]:
    """Why this configuration fails the gate."""
    name, composite, against = entry["name"], entry["composite"], entry["against_baseline"]
    if composite is None:
        return [f"{name} has no score: {entry['runs']} runs, none of them scored."]
    found = []
    if is_unproven(entry):
        found.append(f"{name} has an unproven judge: {entry['unproven_reason']}.")
    if conditions.worse and against is not None and against["verdict"] == WORSE:
        found.append(
            f"{name} is worse than the baseline by {-against['difference']:.2f} "
            f"({-against['high']:.2f} to {-against['low']:.2f})."
        )
    if conditions.worse and against is not None and against["verdict"] == NOT_COMPARABLE:
        found.append(
            f"{name} does not compare with the baseline: the judge, the board or the rubric version differs."
        )
    if conditions.below is not None and composite["value"] < conditions.below:
        found.append(f"{name} has a composite of {composite['value']:.2f}, below {conditions.below:g}.")
    return found
