"""Reads what a script grader wrote: AgentV's JSON with a score, or plain text with an exit status."""

import json
from decimal import Decimal

from refinement.engine.types import Check
from refinement.judging.checks import CannotCheck
from refinement.judging.checks.kinds import Broken, Finding, decimal_of, share_of
from refinement.providers.processes import CommandResult

MARK = Decimal("0.8")  # the score that passes if the script does not say
REASON_CHARS = 600
MOST_REASONS = 5


def script_grade(check: Check, name: str, ended: CommandResult) -> Finding:
    """The verdict. Raises CannotCheck if the script failed: another status than 0 and a message on stderr."""
    if ended.too_long:
        return Finding(False, f"The script {name} wrote too much.")
    record = _record(ended.out)
    if record is not None and ended.code == 0:
        return _graded(check, name, record)
    if ended.code and ended.err.strip():
        raise CannotCheck(f"the script {name} failed with status {ended.code}: {ended.tail}")
    text = ended.out.strip()[:REASON_CHARS]
    if ended.code == 0:
        return Finding(True, score=share_of(1))
    return Finding(False, text or f"The script {name} ended with status {ended.code}.", score=share_of(0))


def _record(out: str) -> dict[str, object] | None:
    try:
        value = json.loads(out)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and ("score" in value or "pass" in value) else None


def _graded(check: Check, name: str, record: dict[str, object]) -> Finding:
    score, passed = record.get("score"), record.get("pass")
    if isinstance(score, bool) or not isinstance(score, int | float | None):
        raise Broken(f"the script {name} printed a score that is no number.")
    if passed is None and record.get("verdict") in ("pass", "fail"):
        passed = record["verdict"] == "pass"
    if not isinstance(passed, bool | None):
        raise Broken(f"the script {name} printed a pass that is neither true nor false.")
    share = float(passed or False) if score is None else float(score)
    threshold = decimal_of(check.parameters, "threshold")
    if passed is None or threshold is not None:
        passed = (passed is not False) and share >= float(MARK if threshold is None else threshold)
    message = "" if passed else _reasons(record) or f"The script {name} gave the score {share:g}."
    return Finding(passed, message, score=share_of(share))


def _reasons(record: dict[str, object]) -> str:
    """Why it failed: the failed parts, or else the reason of the whole."""
    reason = str(record.get("reason") or record.get("reasoning") or "").strip()
    parts = record.get("checks") or record.get("assertions") or []
    failed = [
        " ".join(str(part.get(key) or "") for key in ("text", "reason", "evidence")).strip()
        for part in (parts if isinstance(parts, list) else [])
        if isinstance(part, dict) and part.get("pass", part.get("passed")) is False
    ]
    missed = record.get("misses")
    failed += [str(miss) for miss in missed] if isinstance(missed, list) else []
    return "; ".join([*([reason] if reason else []), *failed[:MOST_REASONS]])[:REASON_CHARS]
