"""Reads judgments: a file for each iteration, or a section of the trajectory."""

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from refinement.engine.profiles import SIMMER_SCALE
from refinement.engine.types import Rubric, Scale
from refinement.interchange.imports.foreign_runs import ForeignRound
from refinement.interchange.imports.found import Notes
from refinement.interchange.simmer.files import Folder
from refinement.judging.parsing.cleaning import same_name
from refinement.judging.parsing.ladder import read_reply
from refinement.judging.parsing.line_rung import read_lines
from refinement.judging.parsing.shapes import OWN_TOTALS, criterion_names

MOST_CRITERIA = 40
LEADING_NUMBER = re.compile(r"\s*(-?\d{1,4}(?:\.\d{1,4})?)")
SCORED = re.compile(
    r"\s*(?:[-*+#]+\s+|\d{1,2}[.)]\s+)?[*_`]*(?P<name>[^\W\d][\w &/'’-]{0,80}?)[*_`]*\s*(?:\([^)]*\))?\s*"
    r"[*_`]*:[*_`\s]*"
    r"\d{1,2}(?:\.\d+)?\s*/\s*10\b"
)
ASI_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]*\**ASI\b[^:\n]{0,80}:?\**[ \t]*$", re.IGNORECASE | re.MULTILINE)
BULLET = re.compile(
    r"\s{0,3}(?:[-*+]\s+|#{3,6}\s+)?[*_`]+(?P<name>[^*_`\n(:][^*`\n(:]{0,118}?)\s*(?:\([^)\n]{0,40}\))?[*_`]*\s*"
    r"(?:\([^)\n]{0,40}\))?\s*[:—–][*_`:\s]*(?P<text>.*)"
)


def names_in(folder: Folder) -> list[str]:
    """The criteria that the judgments score, for a folder without a table."""
    names: dict[str, str] = {}
    for _, text in folder.judgments.values():
        for line in text.split("\n"):
            match = SCORED.match(line)
            if match and same_name(match["name"]) not in OWN_TOTALS:
                names.setdefault(same_name(match["name"]), match["name"].strip())
    return list(names.values())[:MOST_CRITERIA]


def read_judgment(text: str, rubric: Rubric) -> Mapping[str, Any] | None:
    """Scores, reasons, improvements, issues and ASI; None without any score. JSON is read as well."""
    text = ASI_HEADING.sub("ASI:", text)
    lenient = replace(rubric, scale=Scale(SIMMER_SCALE.minimum, SIMMER_SCALE.maximum))
    verdict = read_reply(text, lenient).verdict if "{" in text else None
    if verdict is None:
        return read_lines(text, rubric)
    return {
        "criteria": {
            entry.key: {
                "score": f"{entry.score:f}",
                "reasoning": entry.reasoning,
                "improvement": entry.improvement,
            }
            for entry in verdict.scores
        },
        "issues": list(verdict.issues),
        "asi": verdict.asi,
    }


def add_judgment(made: ForeignRound, rubric: Rubric, text: str, notes: Notes) -> bool:
    """Adds a judgment to the round. Its scores are used only if the table has none."""
    read = read_judgment(text, rubric)
    if read is None:
        return False
    scores: dict[str, Decimal] = {}
    for criterion in rubric.criteria:
        entry = read["criteria"].get(criterion.key, {})
        words = (str(entry.get("reasoning", "")), str(entry.get("improvement", "")))
        if any(words):
            made.words[criterion.key] = words
        number = LEADING_NUMBER.match(str(entry.get("score", "")))
        if number is None:
            continue
        scores[criterion.key] = Decimal(number[1])
        stated = (made.scores or {}).get(criterion.key)
        if stated is not None and stated != scores[criterion.key]:
            why = "The judgment and the table have different scores; the table is used."
            notes.add(0, f"{criterion.name}: {number[1]}, not {stated:f}", why)
    made.asi = made.asi or str(read.get("asi", ""))
    made.issues = made.issues or [str(issue) for issue in read.get("issues", [])]
    in_range = [score for score in scores.values() if rubric.scale.minimum <= score <= rubric.scale.maximum]
    if made.scores is None and len(in_range) == len(rubric.criteria):
        made.scores = scores
        notes.add(0, "", "The table has no scores for this iteration; those of the judgment are used.")
    return True


def add_reasons(made: ForeignRound, rubric: Rubric, text: str) -> None:
    """Adds what bullets such as `- **Clarity:** …` say about a criterion, with the lines below them."""
    names = criterion_names(rubric.criteria)
    said: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.split("\n"):
        match = BULLET.match(line)
        key = names.get(same_name(match["name"])) if match else None
        if match and key:
            current = said.setdefault(key, [])
            current.append(match["text"].strip())
        elif current is not None and line.startswith((" ", "\t")) and line.strip():
            current.append(line.rstrip())
        elif line.strip():
            current = None
    for key, lines in said.items():
        made.words.setdefault(key, ("\n".join(lines).strip(), ""))
