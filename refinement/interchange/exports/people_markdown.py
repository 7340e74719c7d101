"""What people said of a run, for its report: their scores beside the judge's, and their decisions."""

from collections.abc import Mapping, Sequence
from typing import Any

from refinement.engine.scoring import shown
from refinement.engine.sentences import round_name
from refinement.engine.types import Rubric
from refinement.interchange.imports.markdown_text import inline, table

DECIDED = {
    "result": "made another round the result",
    "approved": "approved",
    "changes": "asked for changes",
    "rejected": "rejected the run",
    "withdrawn": "withdrew the decision",
}


def people_decided(rubric: Rubric, decisions: Sequence[Mapping[str, Any]]) -> str:
    """The decisions in order; the last one holds."""
    if not decisions:
        return ""
    rows = [
        [
            f"{entry['at']:%Y-%m-%d %H:%M %Z}",
            inline(entry["author_name"]),
            inline(_did(rubric, entry)),
            inline(entry["reason"]),
        ]
        for entry in decisions
    ]
    return "\n## Decisions\n\nThe last one holds; the judge's record above stays as it is.\n\n" + table(
        ["When", "Who", "Decision", "Reason"], rows
    )


def _did(rubric: Rubric, entry: Mapping[str, Any]) -> str:
    words = DECIDED.get(entry["kind"], entry["kind"])
    return f"{words}: {round_name(rubric, entry['round_number'])}" if entry["round_number"] else words


def people_scored(rubric: Rubric, readings: Sequence[Mapping[str, Any]]) -> str:
    """What each person gave one round."""
    names = {entry.key: entry.name for entry in rubric.criteria}
    parts = []
    for reading in readings:
        how = ", scored blind" if reading["blind"] else ""
        whole = shown(reading["composite"], rubric.policy)
        parts.append(f"\n{inline(reading['author_name'])} gave it {whole}{how}:\n\n")
        rows = [
            [inline(names.get(said["key"], said["key"])), inline(said["score"]), inline(said["reason"])]
            for said in reading["scores"]
        ]
        parts.append(table(["Criterion", "Score", "Reason"], rows))
        if reading["note"]:
            parts.append(f"\n{inline(reading['note'])}\n")
    return "".join(parts)
