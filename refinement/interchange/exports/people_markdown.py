"""The report sections with human scores and decisions."""

from collections.abc import Mapping, Sequence
from typing import Any

from refinement.engine.scoring import shown
from refinement.engine.sentences import round_name
from refinement.engine.types import Rubric
from refinement.interchange.imports.markdown_text import inline, table

DECIDED = {
    "result": "made another round the result",
    "approved": "approved",
    "changes": "requested changes",
    "rejected": "rejected the run",
    "withdrawn": "withdrew the decision",
}


def decisions_section(rubric: Rubric, decisions: Sequence[Mapping[str, Any]]) -> str:
    """The decisions in order. The last one applies."""
    if not decisions:
        return ""
    rows = [
        [
            f"{entry['at']:%Y-%m-%d %H:%M %Z}",
            inline(entry["author_name"]),
            inline(_decision(entry)),
            inline(entry["reason"]),
        ]
        for entry in decisions
    ]
    return (
        "\n## Decisions\n\nThe last decision applies. The judge's result above does not change.\n\n"
        + table(["When", "Who", "Decision", "Reason"], rows)
    )


def _decision(entry: Mapping[str, Any]) -> str:
    label = DECIDED.get(entry["kind"], entry["kind"])
    return f"{label}: {round_name(entry['round_number'])}" if entry["round_number"] else label


def human_scores_section(rubric: Rubric, readings: Sequence[Mapping[str, Any]]) -> str:
    """The scores that each person gave to one round."""
    names = {entry.key: entry.name for entry in rubric.criteria}
    parts = []
    for reading in readings:
        how = ", scored blind" if reading["blind"] else ""
        whole = shown(reading["composite"], rubric.policy)
        parts.append(f"\n{inline(reading['author_name'])} gave it {whole}{how}:\n\n")
        rows = [
            [inline(names.get(score["key"], score["key"])), inline(score["score"]), inline(score["reason"])]
            for score in reading["scores"]
        ]
        parts.append(table(["Criterion", "Score", "Reason"], rows))
        if reading["note"]:
            parts.append(f"\n{inline(reading['note'])}\n")
    return "".join(parts)
