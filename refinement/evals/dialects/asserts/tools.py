"""Assertions on tool calls and traces. A model that answers with text has none, so their result is known.

For a command it is not: the planner refuses these assertions for targets that are commands.
"""

import json
from collections.abc import Mapping
from dataclasses import replace

from refinement.evals.types import Assertion

# Kinds whose result on an answer without any tool call follows from what they ask for.
KINDS = (
    "tool-trajectory",
    "trajectory:tool-used",
    "trajectory:tool-sequence",
    "trajectory:tool-args-match",
    "trajectory:step-count",
    "expected-tool-calls",
    "expected-messages",
    "skill-trigger",
    "skill-used",
    "trace-span-count",
    "trace-span-duration",
    "trace-error-spans",
)
TRACE = "trace-"
NOTE = "Models answer with text here, so no tool is called."
NO_TRACE = "Models answer with text here, so there is no trace, and it fails."
PARAMETER = "needs_tools"
REASON = "No tool was called: the target answers with text."
TRACE_REASON = "There is no trace: the target answers with text."


def note_of(kind: str) -> tuple[str, str]:
    """What is left out, and why."""
    if kind.startswith(TRACE):
        return f"the target's trace in {kind}", NO_TRACE
    return f"the target's tools in {kind}", NOTE


def as_constant(assertion: Assertion, record: Mapping[str, object]) -> Assertion:
    """The assertion as code with a constant result. `record` has all keys of the assertion."""
    passed = holds_without_tools(assertion.kind, record) ^ assertion.negated
    if assertion.kind.startswith(TRACE):
        passed = False  # as in promptfoo, without a trace nothing can be said about it
    reason = TRACE_REASON if assertion.kind.startswith(TRACE) else REASON
    result = {"pass": passed, "score": int(passed), "reason": "" if passed else reason}
    return replace(
        assertion,
        kind="javascript",
        negated=False,
        value=f"return {json.dumps(result)};",
        parameters={PARAMETER: True},
        metric=assertion.metric or assertion.kind,
    )


def holds_without_tools(kind: str, record: Mapping[str, object]) -> bool:
    if kind == "skill-trigger":
        return record.get("should_trigger") is False
    value = record.get("value")
    asked = value if isinstance(value, Mapping) else record
    if kind == "tool-trajectory":
        return not asked.get("expected") and not asked.get("minimums")
    least = asked.get("min")
    return isinstance(value, Mapping) and (least == 0 or (least is None and asked.get("max") is not None))


def needs_tools(assertions: tuple[Assertion, ...]) -> bool:
    """Whether one of the assertions, or of their parts, is about tool calls."""
    return any(entry.parameters.get(PARAMETER) or needs_tools(entry.parts) for entry in assertions)
