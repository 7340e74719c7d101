"""The columns of a trajectory table: iteration, criteria, composite, key change, and others."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from refinement.interchange.imports.found import Notes
from refinement.interchange.imports.written_scores import is_nothing, unmarked, written_score

MOST_CRITERIA, HEAD_CHARS = 40, 400
ITERATION_HEADS = frozenset(
    {
        "iter", "iteration", "round", "#", "it", "no", "step", "cycle", "pass", "gen", "generation",
        "version", "v", "iter #", "iteration #", "round #",
    }
)  # fmt: skip
COMPOSITE_HEADS = frozenset(
    {
        "composite", "comp", "composite score", "score", "total", "total score", "average", "avg", "mean",
        "mean score", "overall", "overall score", "weighted", "weighted score",
    }
)  # fmt: skip
# The first kind that occurs counts: “Key Change” before “Notes”.
CHANGE_HEADS = (
    frozenset({"key change", "key changes", "key change(s)", "change", "changes", "what changed"}),
    frozenset({"change summary", "summary", "edit", "edits", "description", "action", "move"}),
    frozenset({"notes", "note", "comment", "comments"}),
)
ASI_HEADS = frozenset({"asi", "next asi", "asi (next)", "asi for next", "actionable side information"})
NEVER_CRITERIA = frozenset(
    {
        "config", "configuration", "settings", "setup", "model", "models", "judge", "judges", "judge mode",
        "mode", "panel", "board", "date", "timestamp", "commit", "sha", "words", "word count", "wordcount",
        "chars", "characters", "tokens", "delta", "δ", "+/-", "±", "change vs seed", "vs seed", "vs best",
        "status", "verdict", "decision", "outcome", "regressed", "regression", "regression?", "rollback",
        "best", "best?", "winner", "base", "from", "parent", "candidate", "file", "path", "evaluator",
        "evaluator output", "metric", "metrics", "raw", "raw metric",
    }
)  # fmt: skip
_WORD_MARKS = re.compile(
    r"[(\[]\s*primary\b[^)\]]*[)\]]|[(\[]\s*p\s*[)\]]|\s[–—-]\s*primary\Z|\Aprimary\s*:\s*", re.IGNORECASE
)
_BARE_MARK = re.compile(r"\bPRIMARY\b")
_STAR = re.compile(r"\s*\\?[*★⭐☆]\ufe0f?\Z|\A\\?[*★⭐☆]\ufe0f?\s*")
_SCALE = re.compile(r"\s*[(\[]?\s*(?:/\s*10|[01]\s*[-–]\s*10|out of 10)\s*[)\]]?\Z", re.IGNORECASE)
_WORDS = re.compile(r"[^\W\d_]{4,}|\d\s*%")
_NUMBER = re.compile(r"[~≈]?\s*(\d[\d,]*(?:\.\d+)?)\s*\*?\Z")


@dataclass(frozen=True, slots=True)
class Column:
    """A criterion of the table."""

    name: str
    primary: bool
    starred: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """The meaning of the table's columns, as places in a row."""

    columns: tuple[Column, ...]
    criteria: tuple[int, ...]
    composite: int | None
    change: int | None
    asi: int | None
    others: tuple[tuple[int, str], ...]  # columns that are no criterion, with their names
    width: int


def layout_of(head: list[str], body: Sequence[list[str]], line: int, notes: Notes) -> Layout | None:
    """The layout of the table; None if no column can be a criterion. `body` are its rows."""
    names = [plain_head(cell) for cell in head]
    composite = _first(names, COMPOSITE_HEADS)
    change = next((place for kind in CHANGE_HEADS if (place := _first(names, kind)) is not None), None)
    asi = _first(names, ASI_HEADS)
    taken = {0, composite, change, asi}
    free = [place for place in range(1, len(head)) if place not in taken]
    possible = [place for place in free if names[place] not in NEVER_CRITERIA]
    scored = [place for place in possible if not _is_no_score(body, place)] or possible
    before = [place for place in scored if composite is None or place < composite]
    criteria = before or scored
    if not criteria or len(criteria) > MOST_CRITERIA:
        why = f"A table needs 1 to {MOST_CRITERIA} criteria between the iteration and the composite."
        notes.add(line, " | ".join(head), why)
        return None
    others = tuple((place, unmarked(head[place])[:120]) for place in free if place not in criteria)
    if others:
        why = "Not a criterion, because of its name, its content or its place; shown with the run."
        notes.add(line, ", ".join(name for _, name in others), why)
    columns = _marked([column_of(head[place]) for place in criteria], line, notes)
    return Layout(columns, tuple(criteria), composite, change, asi, others, len(head))


def column_of(cell: str) -> Column:
    """The criterion in a cell of the header: `Clarity`, `**Clarity** (P)`, `Clarity PRIMARY`, `Clarity*`."""
    text = unmarked(cell[:HEAD_CHARS])
    plain = _BARE_MARK.sub("", _WORD_MARKS.sub("", text)) if text.upper() != "PRIMARY" else text
    primary = plain != text
    plain = unmarked(plain.strip())
    bare = _STAR.sub("", plain).strip()
    starred = bare != plain and bool(bare)
    name = _SCALE.sub("", unmarked(bare if starred else plain)).strip(" \\")
    return Column(name[:120] or "Criterion", primary, starred)


def _marked(columns: list[Column], line: int, notes: Notes) -> tuple[Column, ...]:
    """The columns with at most one primary. A star marks it only if nothing else does."""
    stars = [column for column in columns if column.starred]
    if not any(column.primary for column in columns) and len(stars) == 1 and len(columns) > 1:
        return tuple(replace(column, primary=column.starred) for column in columns)
    if len(stars) > 1:
        names = ", ".join(column.name for column in stars)
        notes.add(line, names, "Several criteria have a star; the stars are read as footnote marks.")
    return tuple(columns)


def plain_head(cell: str) -> str:
    """The header's cell for comparison with known names."""
    name = column_of(cell).name.casefold().strip(" .:") if cell.strip() else ""
    return name or cell.strip().casefold()


def is_iteration_head(cell: str) -> bool:
    return plain_head(cell) in ITERATION_HEADS


def _first(names: list[str], wanted: frozenset[str]) -> int | None:
    return next((place for place, name in enumerate(names) if place and name in wanted), None)


def _is_no_score(body: Sequence[list[str]], place: int) -> bool:
    """Whether every cell of the column is words, a percentage or a number beyond any scale."""
    cells = [unmarked(row[place]) for row in body if place < len(row) and not is_nothing(row[place])]
    return len(cells) > 1 and all(_no_score(cell) for cell in cells)


def _no_score(cell: str) -> bool:
    if written_score(cell) is None and _WORDS.search(cell):
        return True
    number = _NUMBER.match(cell)
    return number is not None and float(number[1].replace(",", "")) > 100
