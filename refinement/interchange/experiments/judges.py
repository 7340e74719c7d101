"""Whose opinion an experiment's scores are, in words, for the page and the report."""

from collections.abc import Mapping, Sequence
from typing import Any


def judged_by(report: Mapping[str, Any]) -> str:
    """Names the judges, and says how far each agrees with people; empty if no judge scored.

    An experiment doesn't measure that agreement: it is known from labeled texts, or not at all.
    """
    names = list(dict.fromkeys(entry["judge"] for entry in report["configurations"] if entry.get("judge")))
    if not names:
        return ""
    one = len(names) == 1
    scores = (
        f"Scores are judge {names[0]}'s opinion" if one else f"Scores are the opinions of {joined(names)}"
    )
    known = report.get("judges", ())
    compared = [entry for entry in known if entry["kappa"] is not None]
    if not compared:
        return f"{scores}; not compared with people."
    if one and len(compared) == 1:
        return f"{scores}. Its agreement with people is {agreement(compared[0])}."
    figures = "; ".join(f"{entry['name']} {agreement(entry)}" for entry in compared)
    unknown = [] if one else sorted(set(names) - {entry["name"] for entry in compared})
    rest = f" Not compared with people: {joined(unknown)}." if unknown else ""
    return f"{scores}. Agreement with people: {figures}.{rest}"


def agreement(judge: Mapping[str, Any]) -> str:
    return f"κ {judge['kappa']:.2f}, over {judge['labels']} labeled texts"


def joined(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
