"""Deterministic checks on a candidate, without a model.

Checks run in a child process, because a pattern or a schema can run forever or use up the memory.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TypeAlias

from refinement.engine.types import Check, CheckResult, Place
from refinement.judging import isolation
from refinement.judging.checks.kinds import CheckKind, Finding, Parameter, ParameterType, quoted
from refinement.judging.checks.running import COMMAND, KINDS, LOCAL, MEASURED
from refinement.judging.checks.transforming import TRANSFORMED, inner_of
from refinement.judging.checks.words import expected_words
from refinement.judging.isolation import SECONDS, Limit

__all__ = [
    "COMMAND", "KINDS", "LOCAL", "MEASURED", "TRANSFORMED", "CannotCheck", "CheckKind", "LocalRunner",
    "Parameter", "ParameterType", "actual_words", "check_problems", "expected_words", "is_local",
    "run_checks",
]  # fmt: skip

# Runs the checks that need the caller's machine, such as scripts. Only the CLI passes one in; the server
# never runs commands from a rubric.
LocalRunner: TypeAlias = Callable[[Check, str], Finding]
ALONE = ("javascript", TRANSFORMED)  # each has the whole time limit for itself
ACTUAL_CHARS = 200

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
    """A check could not be run, so it says nothing about the candidate."""


def run_checks(
    checks: tuple[Check, ...], candidate: str, local: LocalRunner | None = None
) -> tuple[CheckResult, ...]:
    """The result of each check, in order. A check that cannot be run fails."""

    def is_own(check: Check) -> bool:
        return local is not None and check.kind in LOCAL

    together = iter(
        _findings([check for check in checks if not is_own(check) and check.kind not in ALONE], candidate)
    )

    def finding(check: Check) -> Finding:
        if local is not None and is_own(check):
            return local(check, candidate)
        if local is not None and check.kind == TRANSFORMED and is_own(inner_of(check)):
            return _on_transformed(check, candidate, local)
        return _findings([check], candidate)[0] if check.kind in ALONE else next(together)

    return tuple(_result(check, finding(check), candidate) for check in checks)


def check_problems(check: Check, *, probe: bool = False) -> list[str]:
    """The errors that prevent saving this check, as sentences; empty if it is valid.

    With `probe`, its patterns are also tested on short texts that reveal catastrophic backtracking.
    """
    parameters = _parameters_json(check)
    if parameters is None:
        return [f"The check cannot be read: {UNREADABLE}"]
    arguments = {"kind": check.kind, "parameters": parameters, "probe": probe}
    outcome = isolation.run("check_problems", arguments)
    if outcome.limit:
        return [f"The check was not verified: {_reason(outcome.limit)}"]
    (problems,) = outcome.answers
    return [str(problem) for problem in problems]


def is_local(check: Check) -> bool:
    """Whether the check was recorded by an eval. Its result is stored and never run again."""
    if check.kind == TRANSFORMED:
        return is_local(inner_of(check))
    if check.kind != COMMAND:
        return check.kind in LOCAL
    command, timeout = check.parameters.get("command"), check.parameters.get("timeout")
    return (
        {"command", "timeout"} <= set(check.parameters)
        and isinstance(command, list | tuple)
        and all(isinstance(part, str) for part in command)
        and isinstance(timeout, int)
    )


def _result(check: Check, finding: Finding, candidate: str) -> CheckResult:
    return CheckResult(
        key=check.key,
        passed=finding.passed,
        message=finding.message,
        severity=check.severity,
        weight=check.weight,
        suggestion=check.suggestion,
        place=finding.place,
        score=finding.score,
        expected="" if finding.passed else expected_words(check),
        actual="" if finding.passed else actual_words(candidate, finding.place),
    )


def actual_words(candidate: str, place: Place | None) -> str:
    """What the candidate has instead: the text at the place, or its start. Clipped."""
    text = candidate[place.start : place.end] if place and place.end > place.start else candidate
    line = " ".join(text.split())
    return line if len(line) <= ACTUAL_CHARS else f"{line[: ACTUAL_CHARS - 1]}…"


def _on_transformed(check: Check, candidate: str, local: LocalRunner) -> Finding:
    """A check on the caller's machine, on what code in the child process makes of the text."""
    parameters = _parameters_json(check)
    if parameters is None:
        return _unreadable()
    outcome = isolation.run("transform", {"parameters": parameters, "candidate": candidate})
    if outcome.limit:
        return Finding(False, f"The check was not completed: {_reason(outcome.limit)}")
    (answer,) = outcome.answers
    if "failure" in answer:
        return Finding(False, f"The check itself failed: {answer['failure']}")
    return replace(local(inner_of(check), str(answer["text"])), place=None)


def _findings(checks: Sequence[Check], candidate: str) -> list[Finding]:
    """One finding for each check. All checks share one limit; those after it are not run."""
    parameters = [_parameters_json(check) for check in checks]
    sent = [(check, text) for check, text in zip(checks, parameters, strict=True) if text is not None]
    findings = iter(_isolated(sent, candidate) if sent else ())
    return [_unreadable() if text is None else next(findings) for text in parameters]


def _isolated(sent: Sequence[tuple[Check, str]], candidate: str) -> Iterator[Finding]:
    arguments = {"checks": [[check.kind, text] for check, text in sent], "candidate": candidate}
    outcome = isolation.run("run_checks", arguments)
    for passed, message, span, *score in outcome.answers:
        yield Finding(passed, message, Place(*span) if span else None, Decimal(score[0]) if score else None)
    if outcome.limit:
        stopped, *others = (check for check, _ in sent[len(outcome.answers) :])
        yield Finding(False, f"The check was not completed: {_reason(outcome.limit)}")
        for _ in others:
            yield Finding(False, f"The check was not run: {quoted(stopped.key)} before it did not end.")


def _reason(limit: Limit) -> str:
    return REASONS[limit] + (ADVICE if limit in ADVISED else "")


def _unreadable() -> Finding:
    return Finding(False, f"The check itself is not set up right: {UNREADABLE}")


def _parameters_json(check: Check) -> str | None:
    """The parameters as JSON; None if they cannot be serialised."""
    try:
        return json.dumps(check.parameters, default=dict)
    except (RecursionError, TypeError, ValueError):
        return None
