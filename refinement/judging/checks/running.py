"""Runs a check in this process, without limits. Only for the child process of `isolation`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from refinement.engine.types import Check
from refinement.judging.checks import contained, documents, javascript, likeness, markup, phrases, shape
from refinement.judging.checks.kinds import Broken, CheckKind, Finding, type_problems, with_defaults
from refinement.judging.checks.transforming import TRANSFORMED, as_text, inner_of, outcome_of, step_problems

# In display order.
KINDS: Mapping[str, CheckKind] = {
    kind.name: kind
    for kind in (
        *phrases.KINDS,
        *shape.KINDS,
        *documents.KINDS,
        *contained.KINDS,
        *markup.KINDS,
        *likeness.KINDS,
        *javascript.KINDS,
    )
}
COMMAND = "command"
# Checks that need the machine of the person who started the run, or its call. See `refinement/evals`.
MEASURED = ("latency", "cost", "token-usage", "finish-reason")
LOCAL = (COMMAND, "python", "similar", *MEASURED)
MOST_PROBLEMS = 20


def problems(check: Check) -> list[str]:
    """The errors that prevent saving this check, as sentences; empty if it is valid."""
    if check.kind == COMMAND:
        return ["A command cannot be a check here; only `wiggum eval` runs scripts."]
    if check.kind == TRANSFORMED:
        return step_problems(check) or problems(inner_of(check))
    if check.kind in LOCAL:
        return [f"{check.kind} cannot be a check here; only `wiggum eval` runs it."]
    kind = KINDS.get(check.kind)
    if kind is None:
        return [f"There is no check of the kind {check.kind!r}; the kinds are {', '.join(KINDS)}."]
    found = type_problems(kind, check.parameters) or kind.problems(with_defaults(kind, check.parameters))
    return found[:MOST_PROBLEMS]


def finding(check: Check, candidate: str) -> Finding:
    """The result of the check. An invalid check fails."""
    if found := problems(check):
        return Finding(False, f"The check itself is not set up right: {' '.join(found)}")
    try:
        if check.kind == TRANSFORMED:
            return transformed(check, candidate)
        kind = KINDS[check.kind]
        return kind.run(with_defaults(kind, check.parameters), candidate)
    except Broken as problem:
        return Finding(False, f"The check itself failed: {problem}")


def transformed(check: Check, candidate: str) -> Finding:
    """The result on what the code makes of the text; JavaScript sees it as data, other checks as text."""
    value, inner = outcome_of(check.parameters, candidate), inner_of(check)
    seen = cast(str, value) if inner.kind == "javascript" else as_text(value)
    return replace(finding(inner, seen), place=None)  # it would be a place in another text
