"""Deterministic assertions on a candidate: no model is asked, and the same text gives the same answer."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from refinement.engine.types import Check, CheckResult
from refinement.judging.checks import documents, phrases, shape
from refinement.judging.checks.kinds import (
    CheckKind,
    Finding,
    Parameter,
    Parameters,
    ParameterType,
    type_problems,
    with_defaults,
)

__all__ = [
    "COMMAND", "KINDS", "CannotCheck", "CheckKind", "CommandRunner", "Parameter", "ParameterType",
    "check_problems", "is_script", "run_checks",
]  # fmt: skip

COMMAND = "command"
# Whoever runs things on their own machine passes in how; nobody else can.
CommandRunner: TypeAlias = Callable[[Parameters, str], Finding]


class CannotCheck(Exception):
    """A check could not be carried out at all, which says nothing about the candidate."""


# In the order in which a form offers them.
KINDS: Mapping[str, CheckKind] = {
    kind.name: kind for kind in (*phrases.KINDS, *shape.KINDS, *documents.KINDS)
}


def run_checks(
    checks: tuple[Check, ...], candidate: str, commands: CommandRunner | None = None
) -> tuple[CheckResult, ...]:
    """What every check says of the candidate, in order; a check that cannot be carried out fails."""
    return tuple(_result(check, candidate, commands) for check in checks)


def check_problems(check: Check) -> list[str]:
    """Everything that keeps this check from being saved, in sentences; empty when it is sound."""
    if check.kind == COMMAND:
        return ["A command cannot be a check here; only `wiggum eval` runs scripts."]
    kind = KINDS.get(check.kind)
    if kind is None:
        return [f"There is no check of the kind {check.kind!r}; the kinds are {', '.join(KINDS)}."]
    return type_problems(kind, check.parameters) or kind.problems(with_defaults(kind, check.parameters))


def is_script(check: Check) -> bool:
    """Whether it is a script as an evaluation records one: what it said is kept, nothing runs it again."""
    command, timeout = check.parameters.get("command"), check.parameters.get("timeout")
    return (
        check.kind == COMMAND
        and set(check.parameters) == {"command", "timeout"}
        and isinstance(command, list | tuple)
        and all(isinstance(part, str) for part in command)
        and isinstance(timeout, int)
    )


def _result(check: Check, candidate: str, commands: CommandRunner | None) -> CheckResult:
    finding = _finding(check, candidate, commands)
    return CheckResult(
        key=check.key,
        passed=finding.passed,
        message=finding.message,
        severity=check.severity,
        weight=check.weight,
        suggestion=check.suggestion,
        place=finding.place,
    )


def _finding(check: Check, candidate: str, commands: CommandRunner | None) -> Finding:
    if check.kind == COMMAND and commands is not None:
        return commands(check.parameters, candidate)
    problems = check_problems(check)
    if problems:
        return Finding(False, f"The check itself is not set up right: {' '.join(problems)}")
    kind = KINDS[check.kind]
    return kind.run(with_defaults(kind, check.parameters), candidate)
