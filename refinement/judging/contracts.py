"""The output contract that code decides: a JSON schema and a pattern for the candidate."""

from collections.abc import Iterator, Mapping

from refinement.engine.types import Check, Rubric
from refinement.judging.checks import check_problems, run_checks

REASON_CHARS = 600


def contract_checks(rubric: Rubric) -> Iterator[Check]:
    """The contract as checks, so that it runs under their limits."""
    if rubric.output_schema:
        yield schema_check(rubric.output_schema)
    if rubric.output_pattern:
        yield pattern_check(rubric.output_pattern)


def schema_check(schema: Mapping[str, object]) -> Check:
    return Check("output_schema", "json-schema", {"schema": schema})


def pattern_check(pattern: str) -> Check:
    return Check("output_pattern", "regex", {"pattern": pattern})


def contract_violation(rubric: Rubric, candidate: str) -> str:
    """Why the candidate violates the output contract; empty if it does not, or if code cannot decide.

    A JSON candidate may be wrapped in one code fence. A contract that cannot be checked counts as violated,
    and the reason says so.
    """
    checks = tuple(contract_checks(rubric))
    failed = (result.message for result in run_checks(checks, candidate) if not result.passed)
    return " ".join(failed)[:REASON_CHARS] if checks else ""


def schema_problems(schema: Mapping[str, object]) -> list[str]:
    """The errors that prevent saving an output schema, as sentences."""
    return check_problems(schema_check(schema))


def pattern_problems(pattern: str) -> list[str]:
    """The errors that prevent saving an output pattern, as sentences."""
    return check_problems(pattern_check(pattern), probe=True)
