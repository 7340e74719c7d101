"""The last parser rung: "name: N/10 — reasoning — improvement" lines, tables, and scores under headings.

A score needs a name at the start of its line. Quoted lines (">") are ignored, and fenced lines are read only
if there are no others, so that scores quoted from the candidate do not count.
"""

import re
from dataclasses import dataclass, field

from refinement.engine.types import Rubric
from refinement.judging.parsing.cleaning import same_name
from refinement.judging.parsing.shapes import (
    ASIS,
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

# Asterisks between digits are arithmetic, not bold: 9**9 must not become 99.
MARKUP = re.compile(r"(?<!\d)\*\*|\*\*(?!\d)|__(?=\W|$)|(?<!\w)__|`")
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
DASH = re.compile(r"\s+[-–—]{1,2}\s+|\s*—\s*|\s+\|\s+")
INLINE_IMPROVEMENT = re.compile(r"[\s|;—–-]*\b(?:specific\s+)?improvements?\s*:\s*", re.IGNORECASE)
INLINE_REASONING = re.compile(r"^(?:reasoning|reason|rationale|justification)\s*:\s*", re.IGNORECASE)
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
            return {"criteria": notes.criteria, "issues": notes.issues, "asi": " ".join(notes.asi)}
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


def _read_line(line: str, notes: _Notes) -> None:
    plain = MARKUP.sub("", line)
    if not plain.strip() or RULER.match(plain):
        return
    if "|" in plain and _read_row(plain, notes):
        return
    plain = BULLET.sub("", plain).strip().strip("*").strip()
    match = UNSEPARATED.match(plain)
    if match is None or _criterion(match["label"], notes) is None:
        match = LABELLED.match(plain)
    if match is not None and _read_labelled(match["label"], match["value"], notes):
        return
    key = _criterion(plain.rstrip(":"), notes)
    if key is not None:
        notes.entry(key)
        notes.section = "reasoning"
    elif plain.strip(EDGES):
        notes.add_text(plain.strip())


def _criterion(label: str, notes: _Notes) -> str | None:
    name = same_name(ASIDE.sub("", label))
    return notes.names.get(name) or notes.names.get(LABEL_EDGES.sub("", name))


def _read_labelled(label: str, value: str, notes: _Notes) -> bool:
    key = _criterion(label, notes)
    name = same_name(ASIDE.sub("", label))
    if key is not None:
        _read_statement(notes.entry(key), value, notes)
    elif name in SCORES and notes.current is not None:
        _read_statement(notes.criteria[notes.current], value, notes)
    elif name in ASIS and not (name in IMPROVEMENTS and notes.current):
        _open_section("asi", value, notes)
    elif name.removeprefix("key").removeprefix("main") in ISSUES:
        _open_section("issues", value, notes)
    elif name in OWN_TOTALS:
        notes.current, notes.section = None, ""
    elif name in REASONINGS | IMPROVEMENTS and notes.current is not None:
        notes.section = "reasoning" if name in REASONINGS else "improvement"
        notes.criteria[notes.current][notes.section] = _bare(value)
    else:
        return _read_unknown(label, value, notes)
    return True


def _open_section(section: str, value: str, notes: _Notes) -> None:
    notes.current, notes.section = None, section
    if value.strip(EDGES):
        notes.add_text(_bare(value))


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


def _read_statement(entry: dict[str, object], value: str, notes: _Notes) -> None:
    notes.section = "reasoning"
    match = _score_in(value)
    if match is None:
        reasoning = _bare(value)
        if reasoning:
            entry["reasoning"] = reasoning
        return
    entry["score"] = match["score"].strip(" .,")
    reasoning, improvement = _split(match["rest"])
    if reasoning:
        entry["reasoning"] = reasoning
    if improvement:
        entry["improvement"] = improvement


def _bare(value: str) -> str:
    """The text without surrounding list, object or quotation characters."""
    return value.strip().lstrip(EDGES).rstrip(" \t,{[\"'“”")


def _split(rest: str) -> tuple[str, str]:
    """Reasoning and improvement, separated by a dash, a bar or the word "improvement"."""
    text = rest.strip().lstrip(EDGES)
    parts = INLINE_IMPROVEMENT.split(text, maxsplit=1)
    if len(parts) == 1:
        parts = DASH.split(text, maxsplit=1)
    reasoning = INLINE_REASONING.sub("", parts[0]).strip()
    return reasoning, parts[1].strip() if len(parts) > 1 else ""


def _read_row(line: str, notes: _Notes) -> bool:
    """Reads a table row. The header row sets the score column."""
    cells = [cell.strip().strip("*").strip() for cell in line.strip().strip("|").split("|")]
    heads = [same_name(cell) for cell in cells]
    column = next((place for place, head in enumerate(heads) if head in SCORES), None)
    if column is not None and len(cells) > 1:
        notes.score_column = column
        return True
    at = next((place for place, cell in enumerate(cells[:2]) if _criterion(cell, notes)), None)
    if at is None:
        return False
    return _read_cells(cells, at, notes)


def _read_cells(cells: list[str], at: int, notes: _Notes) -> bool:
    column = notes.score_column
    if column is None or column >= len(cells):
        column = next((place for place in range(at + 1, len(cells)) if _score_in(cells[place])), None)
    if column is None:
        return False
    entry = notes.entry(_criterion(cells[at], notes) or "")
    entry["score"] = cells[column]
    texts = [cell for place, cell in enumerate(cells) if place not in (at, column) and not _score_in(cell)]
    entry.update(zip(("reasoning", "improvement"), texts, strict=False))
    notes.section = "reasoning"
    return True
