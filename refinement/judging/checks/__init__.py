"""Deterministic assertions on a candidate: no model is asked, and the same text gives the same answer.

Checks run in a child process, because a pattern or a schema can take forever or fill the memory.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from refinement.engine.types import Check, CheckResult, Place
from refinement.judging import isolation
from refinement.judging.checks.kinds import CheckKind, Finding, Parameter, Parameters, ParameterType, quoted
from refinement.judging.checks.running import COMMAND, KINDS
from refinement.judging.isolation import SECONDS, Limit

__all__ = [
    "COMMAND", "KINDS", "CannotCheck", "CheckKind", "CommandRunner", "Parameter", "ParameterType",
    "check_problems", "is_script", "run_checks",
]  # fmt: skip

# Whoever runs things on their own machine passes in how; nobody else can.
CommandRunner: TypeAlias = Callable[[Parameters, str], Finding]

UNREADABLE = "its parameters are nested too deeply or hold a number that is too long."
REASONS = {
    Limit.TIME: f"it takes longer than the {SECONDS:g} second that all checks share.",
    Limit.SPENT: "the checks before it used up the time. Fix those first, or try it alone.",
    Limit.MEMORY: "it needs too much memory.",
    Limit.CRASH: "it stopped unexpectedly.",
    Limit.BUSY: "the server is busy with other checks. Try again in a moment.",
}
ADVICE = " Make the check simpler, or the text shorter."
ADVISED = (Limit.TIME, Limit.MEMORY, Limit.CRASH)


class CannotCheck(Exception):
    """A check could not be carried out at all, which says nothing about the candidate."""


def run_checks(
    checks: tuple[Check, ...], candidate: str, commands: CommandRunner | None = None
) -> tuple[CheckResult, ...]:
    """What every check says of the candidate, in order; a check that cannot be carried out fails."""
    others = [check for check in checks if commands is None or check.kind != COMMAND]
    findings = iter(_findings(others, candidate))
    return tuple(
        _result(check, commands(check.parameters, candidate))
        if commands is not None and check.kind == COMMAND
        else _result(check, next(findings))
        for check in checks
    )


def check_problems(check: Check, *, probe: bool = False) -> list[str]:
    """Everything that keeps this check from being saved, in sentences; empty when it is sound.

    With `probe`, its patterns are also tried on short texts that make a careless pattern slow.
    """
    parameters = _sendable(check)
    if parameters is None:
        return [f"The check cannot be read: {UNREADABLE}"]
    arguments = {"kind": check.kind, "parameters": parameters, "probe": probe}
    outcome = isolation.run("check_problems", arguments)
    if outcome.limit:
        return [f"The check was not verified: {_reason(outcome.limit)}"]
    (problems,) = outcome.answers
    return [str(problem) for problem in problems]


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


def _result(check: Check, finding: Finding) -> CheckResult:
    return CheckResult(
        key=check.key,
        passed=finding.passed,
        message=finding.message,
        severity=check.severity,
        weight=check.weight,
        suggestion=check.suggestion,
        place=finding.place,
    )


def _findings(checks: Sequence[Check], candidate: str) -> list[Finding]:
    """One finding for each check; all of them share one limit, and those after it are not run."""
    parameters = [_sendable(check) for check in checks]
    sent = [(check, text) for check, text in zip(checks, parameters, strict=True) if text is not None]
    found = iter(_isolated(sent, candidate) if sent else ())
    return [_unreadable() if text is None else next(found) for text in parameters]


def _isolated(sent: Sequence[tuple[Check, str]], candidate: str) -> Iterator[Finding]:
    arguments = {"checks": [[check.kind, text] for check, text in sent], "candidate": candidate}
    outcome = isolation.run("run_checks", arguments)
    for passed, message, span in outcome.answers:
        yield Finding(passed, message, Place(*span) if span else None)
    if outcome.limit:
        stopped, *others = (check for check, _ in sent[len(outcome.answers) :])
        yield Finding(False, f"The check was not completed: {_reason(outcome.limit)}")
        for _ in others:
            yield Finding(False, f"The check was not run: {quoted(stopped.key)} before it did not end.")


def _reason(limit: Limit) -> str:
    return REASONS[limit] + (ADVICE if limit in ADVISED else "")


def _unreadable() -> Finding:
    return Finding(False, f"The check itself is not set up right: {UNREADABLE}")


def _sendable(check: Check) -> str | None:
    """The parameters as JSON; None when they cannot be written as such."""
    try:
        return json.dumps(check.parameters, default=dict)
    except (RecursionError, TypeError, ValueError):
        return None
