"""The report's section on what became of a round's feedback."""

from collections.abc import Mapping, Sequence
from typing import Any

from refinement.interchange.imports.markdown_text import inline, table

KINDS = {"issue": "Issue", "suggestion": "Suggested change", "improvement": "Improvement"}
FATES = {
    "addressed": "addressed",
    "open": "still open",
    "came_back": "came back",
    "worse": "made worse",
    "overtaken": "overtaken",
}


def feedback_section(entries: Sequence[Mapping[str, Any]]) -> str:
    """What became of each piece of feedback that a revision was asked for; empty without any."""
    known = [entry for entry in entries if entry["fate"]]
    if not known:
        return ""
    rows = [[inline(_name(entry)), FATES[entry["fate"]], inline(_why(entry))] for entry in known]
    return "\nFeedback and its results:\n\n" + table(["Feedback", "Result", "Why"], rows)


def _name(entry: Mapping[str, Any]) -> str:
    number = f" {entry['position'] + 1}" if entry["kind"] != "suggestion" else ""
    return f"{KINDS[entry['kind']]}{number}"


def _why(entry: Mapping[str, Any]) -> str:
    return f"Corrected by {entry['corrected_by']}." if entry["corrected_by"] else str(entry["why"])
