"""Judges as rows: a rubric version with a model or a board."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Q

from refinement.execution.reports import report_request
from refinement.models import JudgeRecord, Project, ReportKind, Round, Rubric, RubricVersion
from refinement.selectors.trust.keys import judge_key

__all__ = ["judge_ensure", "judge_key", "trust_refresh", "trust_refresh_round", "trust_refresh_rubric"]
MOST_REFRESHED = 20  # after one score; the newest


def judge_ensure(
    *,
    project: Project,
    version: RubricVersion,
    model: str,
    endpoint: str = "",
    panel: Sequence[dict[str, Any]] = (),
) -> JudgeRecord:
    """The judge's row, created if there is none. `endpoint` is where it was last called."""
    record, created = JudgeRecord.objects.get_or_create(
        rubric_version=version,
        key=judge_key(model, panel),
        defaults={
            "project": project,
            "name": f"Board of {len(panel)}" if panel else model,
            "endpoint": endpoint,
            "model": model,
            "panel": list(panel),
        },
    )
    if not created and endpoint and record.endpoint != endpoint:
        record.endpoint = endpoint
        record.save(update_fields=["endpoint"])
    return record


def trust_refresh(record: JudgeRecord) -> None:
    """Has a worker compute the judge's figures again."""
    report_request(project=record.project, kind=ReportKind.TRUST, subject=record.pk)


def trust_refresh_rubric(rubric: Rubric) -> None:
    """The same for all judges of the rubric's versions, after its labels changed."""
    for record in JudgeRecord.objects.filter(rubric_version__rubric=rubric).select_related("project"):
        trust_refresh(record)


def trust_refresh_round(row: Round) -> None:
    """The same for the judges that scored a round in its run or in a measurement, after people scored it."""
    records = JudgeRecord.objects.filter(
        Q(rubric_version=row.run.rubric_version_id) | Q(rubric_version__measurements__items__round=row)
    )
    for record in records.select_related("project").distinct().order_by("-pk")[:MOST_REFRESHED]:
        trust_refresh(record)
