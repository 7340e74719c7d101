"""Output of commands: results on stdout, messages on stderr, without control characters from texts."""

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
    """Print a JSON document."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_line(value: object) -> None:
    """Print a JSON document on one line, for streams."""
    click.echo(json.dumps(value, ensure_ascii=False))


def print_message(message: str) -> None:
    """Print a message to stderr."""
    click.echo(shown(message), err=True)


def shown(text: str) -> str:
    """The text with control characters replaced, so that it cannot control the terminal."""
    kept = (
        sign if sign in "\n\t" or not unicodedata.category(sign).startswith("C") else "�" for sign in text
    )
    return "".join(kept)


def coloured(word: str) -> str:
    return click.style(word, fg=COLOURS[word]) if word in COLOURS else word


def score(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def print_table(columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]], *, wide: str = "") -> None:
    """Print a table. The column `wide` is shortened if the terminal is too narrow."""
    cells = [[cell(row.get(name)) for name in columns] for row in rows]
    titles = list(columns.values())
    widths = [max(len(title), *(len(line[at]) for line in cells), 0) for at, title in enumerate(titles)]
    if wide:
        at = list(columns).index(wide)
        free = shutil.get_terminal_size((120, 40)).columns - sum(widths) + widths[at] - len(GAP) * len(widths)
        widths[at] = min(widths[at], max(free, NARROWEST))
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
