"""Checks on the call that wrote a candidate: how long it took, what it cost, and how it ended."""

from decimal import Decimal

from refinement.engine.types import Check, Role
from refinement.judging.checks.kinds import Broken, Finding, decimal_of, quoted
from refinement.models import Call, Run

UNKNOWN_COST = "The cost of this call is unknown: the model has no price. Set one, or remove the check."


def measured(run: Run, round_number: int, check: Check) -> Finding:
    """The result of a check on the round's newest call to the writer."""
    call = (
        Call.objects.filter(run=run, round_number=round_number, role=Role.PRODUCER.value, error_kind="")
        .order_by("-pk")
        .first()
    )
    if call is None:
        return Finding(False, "No call wrote this text, so there is nothing to measure.")
    try:
        finding = _finding(call, check)
    except Broken as problem:
        return Finding(False, f"The check itself failed: {problem}")
    if not check.parameters.get("negate") or "unknown" in finding.message:
        return finding
    return Finding(not finding.passed, "" if not finding.passed else f"{check.kind}: this must not hold.")


def _finding(call: Call, check: Check) -> Finding:
    limit = decimal_of(check.parameters, "threshold")
    if check.kind == "latency":
        took = Decimal(str(call.seconds)) * 1000
        passed = limit is None or took <= limit
        message = f"The answer took {took:.0f} ms; at most {limit:f} ms are allowed." if not passed else ""
        return Finding(passed, message)
    if check.kind == "cost":
        if call.cost is None:
            return Finding(False, UNKNOWN_COST)
        passed = limit is None or call.cost <= limit
        message = f"The answer cost {call.cost.normalize():f}; at most {limit:f} is allowed."
        return Finding(passed, "" if passed else message)
    if check.kind == "token-usage":
        used = call.prompt_tokens + call.completion_tokens
        passed = limit is None or used <= limit
        message = f"The answer took {used:,} tokens; at most {limit:f} are allowed."
        return Finding(passed, "" if passed else message)
    wanted = str(check.parameters.get("text", "")).casefold()
    reason = call.finish_reason.casefold()
    message = f"The answer ended because of {quoted(reason or 'an unknown reason')}, not {quoted(wanted)}."
    return Finding(True) if reason == wanted else Finding(False, message)
