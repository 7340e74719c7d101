"""Reads tests from CSV rows: columns are vars, and `__` columns are assertions and settings."""

import csv
import re

from refinement.evals.dialects.asserts.kinds import REFUSED, UNDERSTOOD
from refinement.evals.dialects.log import words
from refinement.evals.sources.csv_rows import Row
from refinement.evals.sources.plain import node_of
from refinement.interchange.rubrics.yaml_reading import Fields

EXPECTED = re.compile(r"__expected(\d*)")
CONFIG = re.compile(r"__config:__expected(\d*):(\w+)")
METADATA = re.compile(r"__metadata:([^\[\]]+)(\[\])?")
ASSERTED = re.compile(
    r"(?P<type>(?:not-)?[a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?:\((?P<threshold>[\d.]+)\))?:(?P<value>.*)", re.S
)
SHORT = {"eval": "javascript", "fn": "javascript", "grade": "llm-rubric", "closedqa": "model-graded-closedqa"}
WITHOUT_VALUE = words(
    """
    is-json contains-json is-xml contains-xml is-sql contains-sql is-html contains-html answer-relevance
    context-faithfulness context-relevance is-refusal
    """
)
THRESHOLDS = words(
    "latency cost perplexity perplexity-score answer-relevance context-faithfulness context-relevance"
)
LISTS = words("contains-any contains-all icontains-any icontains-all")
KINDS = frozenset({*UNDERSTOOD, *REFUSED, *WITHOUT_VALUE, "model-graded-factuality"})


def test_of_row(row: Row) -> Fields:
    """The row as a test in the shape of a YAML file."""
    cells = row.cells
    asserts = {match[1]: assert_of(cells[match[0]]) for match in matches(EXPECTED, row)}
    settle(row, asserts)
    metadata = {
        match[1]: re.split(r"(?<!\\),", cells[match[0]]) if match[2] else cells[match[0]]
        for match in matches(METADATA, row)
    }
    threshold, provider = cells.get("__threshold", "").strip(), cells.get("__provider", "").strip()
    test: dict[str, object] = {
        "id": cells.get("__id", "").strip(),
        "description": cells.get("__description", "").strip(),
        "vars": {column: cell for column, cell in cells.items() if column and not column.startswith("__")},
        "assert": list(asserts.values()),
        "threshold": number_or_text(threshold) if threshold else None,
        "provider": provider,
        "providerOutput": cells.get("__providerOutput", ""),
        "options": {key: cells[f"__{key}"] for key in ("prefix", "suffix") if cells.get(f"__{key}")},
        "metadata": metadata,
    }
    made = node_of({key: value for key, value in test.items() if value not in ("", None, [], {})}, row.line)
    assert isinstance(made, Fields)
    return made


def matches(pattern: re.Pattern[str], row: Row) -> list[re.Match[str]]:
    """The columns of this kind that have a cell in the row."""
    found = (pattern.fullmatch(column) for column, cell in row.cells.items() if cell.strip())
    return [match for match in found if match]


def settle(row: Row, asserts: dict[str, dict[str, object]]) -> None:
    """Adds the metric and the settings of other columns to the row's assertions."""
    metric = row.cells.get("__metric", "").strip()
    for entry in asserts.values():
        entry.update({"metric": metric} if metric else {})
    for column, cell in row.cells.items():
        config = CONFIG.fullmatch(column)
        if not config or not cell.strip():
            continue
        for number, entry in asserts.items():
            if config[1] in ("", number) or (config[1] == "1" and number == ""):
                entry[config[2]] = number_or_text(cell)


def assert_of(cell: str) -> dict[str, object]:
    """`type: value`, `type(0.8): value`, a type alone, or a text that the answer must equal."""
    text = cell.strip()
    if text.removeprefix("not-") in WITHOUT_VALUE:
        return {"type": text}
    match = ASSERTED.fullmatch(text)
    kind = SHORT.get(match["type"], match["type"]) if match else ""
    if match is None or kind.removeprefix("not-") not in KINDS:
        alone = re.fullmatch(r"((?:not-)?[a-z-]+)\(([\d.]+)\)", text)
        if alone and alone[1].removeprefix("not-") in KINDS:
            return {"type": alone[1], "threshold": number_or_text(alone[2])}
        return {"type": "equals", "value": cell}
    made: dict[str, object] = {"type": kind}
    value = match["value"].strip()
    if match["threshold"]:
        made["threshold"] = number_or_text(match["threshold"])
    elif kind in THRESHOLDS and value:
        return made | {"threshold": number_or_text(value)}
    if kind.removeprefix("not-") in LISTS:
        return made | {"value": listed(value)}
    return made | ({"value": value} if value else {})


def listed(text: str) -> list[object]:
    rows = list(csv.reader([text.replace("\n", " ")], skipinitialspace=True))
    return [part.strip() for part in rows[0]] if rows else []


def number_or_text(cell: str) -> object:
    try:
        return float(cell) if "." in cell else int(cell)
    except ValueError:
        return cell
