"""What commands print: results on stdout, the rest on stderr, and never a model's control characters."""

import json
import shutil
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import click

COLOURS = {
    "PASS": "green", "DONE": "green", "FAIL": "yellow", "ERROR": "red", "CANCELLED": "bright_black",
    "running": "cyan", "queued": "cyan", "waiting": "yellow", "paused": "yellow",
    "ok": "green", "warn": "yellow", "fail": "red",
}  # fmt: skip
GAP = "  "
NARROWEST = 20


def print_json(value: object) -> None:
    """One document, for scripts."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_line(value: object) -> None:
    """One document a line, for scripts that read while we write."""
    click.echo(json.dumps(value, ensure_ascii=False))


def tell(words: str) -> None:
    """What a person wants to know and a script does not read."""
    click.echo(shown(words), err=True)


def shown(text: str) -> str:
    """Text that others wrote, without what would move a terminal's cursor or colour it."""
    kept = (
        sign if sign in "\n\t" or not unicodedata.category(sign).startswith("C") else "�" for sign in text
    )
    return "".join(kept)


def coloured(word: str) -> str:
    return click.style(word, fg=COLOURS[word]) if word in COLOURS else word


def score(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def print_table(columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]], *, wide: str = "") -> None:
    """The rows under their titles; the column `wide` gives way where the terminal is too narrow."""
    cells = [[cell(row.get(name)) for name in columns] for row in rows]
    titles = list(columns.values())
    widths = [max(len(title), *(len(line[at]) for line in cells), 0) for at, title in enumerate(titles)]
    if wide:
        at = list(columns).index(wide)
        room = shutil.get_terminal_size((120, 40)).columns - sum(widths) + widths[at] - len(GAP) * len(widths)
        widths[at] = min(widths[at], max(room, NARROWEST))
    click.echo(click.style(aligned(titles, widths), bold=True))
    for line in cells:
        click.echo(aligned(line, widths))


def cell(value: object) -> str:
    if value is None or value == "":
        return "–"
    if isinstance(value, float):
        return score(value)
    return " ".join(shown(str(value)).split())


def aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    parts = []
    for text, width in zip(cells, widths, strict=True):
        short = text if len(text) <= width else f"{text[: width - 1]}…"
        parts.append(coloured(short) + " " * (width - len(short)))
    return GAP.join(parts).rstrip()
