"""Results of measurements that other modules compute: planted defects and usable replies."""

from typing import Any

from refinement.models import JudgeRecord


def planted(record: JudgeRecord) -> dict[str, Any] | None:
    if not record.pk:
        return None
    try:
        from refinement.execution.trust.planted import planted_results
    except ModuleNotFoundError:
        return None
    found: dict[str, Any] | None = planted_results(record)
    return found


def usable(record: JudgeRecord) -> dict[str, Any] | None:
    if not record.pk:
        return None
    try:
        from refinement.execution.trust.usability import usable_replies
    except ModuleNotFoundError:
        return None
    found: dict[str, Any] | None = usable_replies(record)
    return found
