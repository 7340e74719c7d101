"""The last parser rung: "name: N/10 — reasoning — improvement" lines, tables, and scores under headings.

A score needs a name at the start of its line. Quoted lines (">") are ignored, and fenced lines are read only
if there are no others, so that scores quoted from the candidate do not count.

Names and scores are found without Markdown, but texts are kept as written: see `said.py`.
"""

import re
from dataclasses import dataclass, field

from refinement.engine.types import Rubric
from refinement.judging.parsing.cleaning import same_name
from refinement.judging.parsing.said import Line, bare, split_at_dash
from refinement.judging.parsing.shapes import (
    ASIS,
    CONTRACT_FLAGS,
    CONTRACT_REASONS,
    IMPROVEMENTS,
    ISSUES,
    OWN_TOTALS,
    REASONINGS,
    SCORES,
    criterion_names,
)

MAX_LINES = 4_000
MAX_LINE_CHARS = 4_000
MAX_LABEL_WORDS = 5

BULLET = re.compile(r"^\s*(?:[-*•+‣–]\s+|\d{1,2}[.)]\s+|#{1,6}\s*|\|?\s*$)+")
LABELLED = re.compile(r"^(?P<label>[^:：=]{1,100}?)\s*(?:[:：=]+|\s[-–—]+(?=\s))\s*(?P<value>.*)$")
UNSEPARATED = re.compile(r"^(?P<label>[^\d:]{1,80}?)[\s(\[]+(?P<value>\d[\d.,]*\s*/\s*\d.*)$")
ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]")
LABEL_EDGES = re.compile(r"^(?:score|rating)(?:for|of)|(?:score|rating)$")
NUMBER = r"[-+]?\d[\d.,]*"
LINE_SCORE = re.compile(
    r"^[\s\"'(\[]*(?:(?:score|rating)\s*[:=]?\s*)?"
    rf"(?P<score>{NUMBER}(?:\s*(?:to|-|–)\s*(?=\d[\d.]*\s*/)\d[\d.]*|[-–]\d[\d.]*|\s+to\s+\d[\d.]*)?"
    rf"(?P<ceiling>\s*\(?\s*(?:/|out\s+of|von|sur)\s*{NUMBER}\)?)?%?)(?P<rest>.*)$",
    re.IGNORECASE,
)
SCORE_ENDS = re.compile(r"^\s*(?:$|[-–—:|,.;()\[\]\"'}]|//|points?\b|pts\b)", re.IGNORECASE)
INLINE_IMPROVEMENT = re.compile(
    r"[\s|;—–-]*(?:\*\*|__)?\b(?:specific\s+)?improvements?(?:\*\*|__)?\s*:(?:\*\*|__)?\s*", re.IGNORECASE
)
INLINE_REASONING = re.compile(
    r"^(?:\*\*|__)?(?:reasoning|reason|rationale|justification)(?:\*\*|__)?\s*:(?:\*\*|__)?\s*", re.IGNORECASE
)
EDGES = " \t-–—:|,;.)(]}{[\"'“”"
FENCE = re.compile(r"^\s*(?:```|~~~)")
RULER = re.compile(r"^[\s|:=-]+$")


@dataclass(slots=True)
class _Notes:
    """The values read so far, and the section that the next plain line belongs to."""

    names: dict[str, str]
    criteria: dict[str, dict[str, object]] = field(default_factory=dict)
    issues: list[str] = field(default_factory=list)
    asi: list[str] = field(default_factory=list)
    contract: dict[str, object] = field(default_factory=dict)
    current: str | None = None
    section: str = ""
    score_column: int | None = None

    def entry(self, key: str) -> dict[str, object]:
        self.current = key
        return self.criteria.setdefault(key, {})

    def add_text(self, text: str) -> None:
        """Adds a plain line to the current section."""
        if self.section == "asi":
            self.asi.append(text)
        elif self.section == "issues":
            self.issues.append(text)
        elif self.current is not None:
            entry = self.criteria[self.current]
            entry[self.section] = f"{entry.get(self.section, '')} {text}".strip()


def read_lines(text: str, rubric: Rubric) -> dict[str, object] | None:
    """The values in the shape of a JSON reply, or None if no line has a score."""
    outside, everything = _unfenced(text)
    names = criterion_names(rubric.criteria)
    for lines in (outside, everything):
        notes = _Notes(names)
        for line in lines[-MAX_LINES:]:
            _read_line(line[:MAX_LINE_CHARS], notes)
        if any("score" in entry for entry in notes.criteria.values()):
            asi = " ".join(notes.asi)
            return {"criteria": notes.criteria, "issues": notes.issues, "asi": asi, **notes.contract}
    return None


def _unfenced(text: str) -> tuple[list[str], list[str]]:
    outside: list[str] = []
    everything: list[str] = []
    fenced = False
    for line in text.splitlines():
        if FENCE.match(line):
            fenced = not fenced
        elif not line.lstrip().startswith(">"):
            everything.append(line)
            if not fenced:
                outside.append(line)
    return outside, everything


def _read_line(text: str, notes: _Notes) -> None:
    line = Line(text)
    plain = line.plain
    if not plain.strip() or RULER.match(plain):
        return
    if "|" in plain and _read_row(line, notes):
        return
    plain = BULLET.sub("", plain).strip().strip("*").strip()
    match = UNSEPARATED.match(plain)
    if match is None or _criterion(match["label"], notes) is None:
        match = LABELLED.match(plain)
    if match is not None and _read_labelled(line, match["label"], match["value"], notes):
        return
    key = _criterion(plain.rstrip(":"), notes)
    if key is not None:
        notes.entry(key)
        notes.section = "reasoning"
    elif plain.strip(EDGES):
        notes.add_text(line.as_said(plain))


def _criterion(label: str, notes: _Notes) -> str | None:
    name = same_name(ASIDE.sub("", label))
    return notes.names.get(name) or notes.names.get(LABEL_EDGES.sub("", name))


def _read_labelled(line: Line, label: str, value: str, notes: _Notes) -> bool:
    key = _criterion(label, notes)
    name = same_name(ASIDE.sub("", label))
    if key is not None:
        _read_statement(line, notes.entry(key), value, notes)
    elif name in SCORES and notes.current is not None:
        _read_statement(line, notes.criteria[notes.current], value, notes)
    elif name in ASIS and not (name in IMPROVEMENTS and notes.current):
        _open_section("asi", line.as_said(value), notes)
    elif name.removeprefix("key").removeprefix("main") in ISSUES:
        _open_section("issues", line.as_said(value), notes)
    elif name in CONTRACT_FLAGS:
        violated, _, reason = value.partition(" ")
        reason = bare(line.as_said(reason))
        notes.contract = {"contract_violated": violated.strip(EDGES), "contract_reason": reason}
    elif name in CONTRACT_REASONS:
        notes.contract["contract_reason"] = bare(line.as_said(value))
    elif name in OWN_TOTALS:
        notes.current, notes.section = None, ""
    elif name in REASONINGS | IMPROVEMENTS and notes.current is not None:
        notes.section = "reasoning" if name in REASONINGS else "improvement"
        notes.criteria[notes.current][notes.section] = bare(line.as_said(value))
    else:
        return _read_unknown(label, value, notes)
    return True


def _open_section(section: str, said: str, notes: _Notes) -> None:
    notes.current, notes.section = None, section
    if said.strip(EDGES):
        notes.add_text(bare(said))


def _read_unknown(label: str, value: str, notes: _Notes) -> bool:
    """Reads a scored line with an unknown name. Validation reports it as dropped."""
    score = _score_in(value)
    if score is None or not score["ceiling"] or notes.section in ("asi", "issues"):
        return False
    if len(label.split()) > MAX_LABEL_WORDS:
        return False
    notes.criteria[label.strip()] = {"score": score["score"]}
    notes.current, notes.section = None, ""
    return True


def _score_in(value: str) -> re.Match[str] | None:
    match = LINE_SCORE.match(value)
    if match is None or not (match["ceiling"] or SCORE_ENDS.match(match["rest"])):
        return None
    return match


def _read_statement(line: Line, entry: dict[str, object], value: str, notes: _Notes) -> None:
    notes.section = "reasoning"
    match = _score_in(value)
    if match is None:
        reasoning = bare(line.as_said(value))
        if reasoning:
            entry["reasoning"] = reasoning
        return
    entry["score"] = match["score"].strip(" .,")
    reasoning, improvement = _split(line.as_said(match["rest"]))
    if reasoning:
        entry["reasoning"] = reasoning
    if improvement:
        entry["improvement"] = improvement


def _split(rest: str) -> tuple[str, str]:
    """Reasoning and improvement, separated by the word "improvement", a dash or a bar."""
    parts = INLINE_IMPROVEMENT.split(rest, maxsplit=1)
    if len(parts) == 1:
        return split_at_dash(rest, INLINE_REASONING)
    return INLINE_REASONING.sub("", bare(parts[0])), bare(parts[1])


def _read_row(line: Line, notes: _Notes) -> bool:
    """Reads a table row. The header row sets the score column."""
    cells = [cell.strip().strip("*").strip() for cell in line.plain.strip().strip("|").split("|")]
    heads = [same_name(cell) for cell in cells]
    column = next((place for place, head in enumerate(heads) if head in SCORES), None)
    if column is not None and len(cells) > 1:
        notes.score_column = column
        return True
    at = next((place for place, cell in enumerate(cells[:2]) if _criterion(cell, notes)), None)
    if at is None:
        return False
    said = [cell.strip() for cell in line.text.strip().strip("|").split("|")]
    return _read_cells(cells, said if len(said) == len(cells) else cells, at, notes)


def _read_cells(cells: list[str], said: list[str], at: int, notes: _Notes) -> bool:
    column = notes.score_column
    if column is None or column >= len(cells):
        column = next((place for place in range(at + 1, len(cells)) if _score_in(cells[place])), None)
    if column is None:
        return False
    entry = notes.entry(_criterion(cells[at], notes) or "")
    entry["score"] = cells[column]
    others = (place for place in range(len(cells)) if place not in (at, column))
    texts = [said[place] for place in others if not _score_in(cells[place])]
    entry.update(zip(("reasoning", "improvement"), texts, strict=False))
    notes.section = "reasoning"
    return True
