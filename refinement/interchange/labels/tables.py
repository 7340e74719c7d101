"""CSV and JSON Lines as rows of named texts, each with its line."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from refinement.interchange.imports.fields import brief
from refinement.interchange.labels.types import MAX_BYTES
from refinement.interchange.rubrics.yaml_reading import BadFile, Problem
from refinement.interchange.suites.tables import unescaped

DELIMITERS = (",", ";", "\t")
Row = tuple[int, dict[str, str]]


@dataclass(slots=True)
class Table:
    """A file's rows. Problems are collected, so that all are reported at once."""

    rows: list[Row] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)

    def add(self, line: int, message: str) -> None:
        self.problems.append(Problem(line, message))


def kind_of(source: str, name: str = "") -> str:
    """`jsonl` or `csv`, from the file's name or its first character."""
    ending = name.rpartition(".")[2].lower()
    if ending in ("jsonl", "ndjson", "json"):
        return "jsonl"
    if ending in ("csv", "tsv"):
        return "csv"
    return "jsonl" if source.lstrip("\ufeff \t\r\n").startswith("{") else "csv"


def table_read(
    source: str, kind: str, needed: Sequence[str], known: Sequence[str], aliases: Mapping[str, str]
) -> Table:
    """The rows with the columns in `known`. Columns in `needed` have to be there."""
    if len(source) > MAX_BYTES or len(source.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        return Table(problems=[Problem(1, f"The file is larger than the limit of {MAX_BYTES:,} bytes.")])
    source = source.removeprefix("\ufeff")
    if kind == "jsonl":
        return _jsonl(source, needed, known, aliases)
    return _csv(source, needed, known, aliases)


def _named(column: str, known: Sequence[str], aliases: Mapping[str, str]) -> str:
    plain = "_".join(column.strip().lower().split())
    return plain if plain in known else aliases.get(plain, "")


def _csv(source: str, needed: Sequence[str], known: Sequence[str], aliases: Mapping[str, str]) -> Table:
    table = Table()
    rows = _csv_rows(source)
    try:
        first = next(rows, None)
        if first is None:
            table.add(1, "The file is empty.")
            return table
        line, head = first
        columns = _columns(table, line, head, needed, known, aliases)
        if table.problems:
            return table
        for number, cells in rows:
            if any(cells[len(head) :]):
                table.add(number, "This row has more cells than there are columns. Is a quote missing?")
            elif any(cells):
                pairs = zip(columns, cells, strict=False)
                table.rows.append((number, {name: unescaped(cell) for name, cell in pairs if name}))
    except BadFile as bad:
        table.problems += bad.problems
    if not table.rows and not table.problems:
        table.add(1, "The file has no rows below its column names.")
    return table


def _csv_rows(source: str) -> Iterator[tuple[int, list[str]]]:
    """Each row with the line it starts on."""
    csv.field_size_limit(MAX_BYTES)  # the default is smaller than the texts that are allowed
    delimiter = max(DELIMITERS, key=source.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(source, newline=""), delimiter=delimiter, strict=True)
    start = 1
    try:
        for row in reader:
            if row:
                yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        raise BadFile([Problem(start, f"This is not valid CSV: {error}.")]) from None


def _columns(
    table: Table,
    line: int,
    head: Sequence[str],
    needed: Sequence[str],
    known: Sequence[str],
    aliases: Mapping[str, str],
) -> list[str]:
    """The column names in their order, empty for those that are not used."""
    columns = [_named(cell, known, aliases) for cell in head]
    for name, cell in zip(columns, head, strict=True):
        if not name and cell.strip():
            table.unused.append(f"The column {brief(cell.strip())} is not used.")
        if name and columns.count(name) > 1:
            table.add(line, f"Two columns are {name}: rename or remove one of them.")
    if missing := [name for name in needed if name not in columns]:
        what = "column is" if len(missing) == 1 else "columns are"
        table.add(
            line,
            f"{len(missing)} {what} missing: {', '.join(missing)}. The first line has to name the columns "
            f"{', '.join(needed)}.",
        )
    return columns


def _jsonl(source: str, needed: Sequence[str], known: Sequence[str], aliases: Mapping[str, str]) -> Table:
    table, unused = Table(), dict[str, None]()
    for number, line in enumerate(source.split("\n"), 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"
            table.add(number, f"This line is not a JSON object: {reason}.")
            continue
        if not isinstance(entry, dict):
            table.add(number, "This line is not a JSON object with the keys " + ", ".join(needed) + ".")
            continue
        values, problems = _values(number, entry, known, aliases, unused)
        table.problems += problems
        if problems:
            continue
        if missing := [name for name in needed if name not in values]:
            table.add(number, f"Keys are missing: {', '.join(missing)}.")
        else:
            table.rows.append((number, values))
    table.unused = [f"The key {brief(key)} is not used." for key in list(unused)[:20]]
    if not table.rows and not table.problems:
        table.add(1, "The file is empty.")
    return table


def _values(
    line: int,
    entry: dict[str, Any],
    known: Sequence[str],
    aliases: Mapping[str, str],
    unused: dict[str, None],
) -> tuple[dict[str, str], list[Problem]]:
    values: dict[str, str] = {}
    problems: list[Problem] = []
    for key, value in entry.items():
        name = _named(key, known, aliases)
        if not name:
            unused[key] = None
        elif isinstance(value, str):
            values[name] = value
        elif value is None or isinstance(value, bool | int | float):
            values[name] = "" if value is None else json.dumps(value)
        else:
            problems.append(Problem(line, f"{name} has to be a text or a number."))
    return values, problems
