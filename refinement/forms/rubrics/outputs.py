"""What code reads from outputs: the rows of metrics, failure patterns and the output contract."""

from collections.abc import Iterator, Mapping
from typing import Any

from refinement.forms.rubrics import values
from refinement.forms.rubrics.initial import Fields
from refinement.forms.rubrics.rows import Problems, row_numbers
from refinement.judging import contracts
from refinement.judging.evidence import pattern_problems, pointer_problems

PATTERN, POINTER = "pattern", "pointer"
FOUND_BY = {PATTERN: "Pattern", POINTER: "JSON pointer"}
NAME_LIMIT = 60
VALUE_LIMIT = 2_000
MOST_METRICS = 20
MOST_PATTERNS = 50


def read_metrics(fields: Fields, problems: Problems) -> list[dict[str, Any]]:
    """The metrics as JSON, in order; errors are added to their fields."""
    numbers = row_numbers(fields, "metric")
    if len(numbers) > MOST_METRICS:
        problems.add("metrics", f"{len(numbers)} metrics; at most {MOST_METRICS} are allowed. Remove some.")
        return []
    names: set[str] = set()
    return [_metric(fields, f"metric-{number}-", names, problems) for number in numbers]


def _metric(fields: Fields, start: str, names: set[str], problems: Problems) -> dict[str, Any]:
    name = problems.take(f"{start}name", "", _name, fields.get(f"{start}name", ""), names)
    by = POINTER if fields.get(f"{start}by") == POINTER else PATTERN
    found_by = problems.take(
        f"{start}value", "", values.text_within, fields.get(f"{start}value", ""), VALUE_LIMIT
    )
    for problem in _value_problems(by, found_by):
        problems.add(f"{start}value", problem)
    return {"name": name, by: found_by, "lower_is_better": bool(fields.get(f"{start}lower"))}


def _name(text: str, names: set[str]) -> str:
    name = values.text_within(text.strip(), NAME_LIMIT)
    if not name:
        raise values.Refused("Enter a name, such as accuracy.")
    if name in names:
        raise values.Refused("Another metric has the same name. Choose another.")
    names.add(name)
    return name


def _value_problems(by: str, text: str) -> list[str]:
    if not text.strip():
        return ["Enter a pattern such as accuracy: (\\S+), or a pointer such as /accuracy."]
    return pointer_problems(text) if by == POINTER else pattern_problems(text, groups=1)


def refuse_odd_outputs(definition: Mapping[str, Any], problems: Problems) -> None:
    """Errors for patterns and a schema that cannot be used."""
    for problem in _failure_problems(definition["evaluator"]["failure_patterns"] or []):
        problems.add("evaluator-failure_patterns", problem)
    if schema := definition["output_schema"]:
        for problem in contracts.schema_problems(schema):
            problems.add("output_schema", problem)
    if pattern := definition["output_pattern"]:
        for problem in contracts.pattern_problems(pattern):
            problems.add("output_pattern", problem)


def _failure_problems(patterns: list[str]) -> Iterator[str]:
    if len(patterns) > MOST_PATTERNS:
        yield f"{len(patterns)} patterns; at most {MOST_PATTERNS} are allowed. Remove some."
        return
    for place, pattern in enumerate(patterns, start=1):
        for problem in pattern_problems(pattern):
            yield f"Pattern {place}: {problem}"
