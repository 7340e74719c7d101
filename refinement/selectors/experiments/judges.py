"""What is known about the judges of an experiment, from the records of judge trust."""

from collections.abc import Iterable
from typing import Any

from refinement.models import Experiment, JudgeRecord

TEN = 10


def judge_facts(experiment: Experiment) -> list[dict[str, Any]]:
    """The known judges of its runs, with their figures as JSON; one query."""
    used = JudgeRecord.objects.filter(runs__experiment=experiment).select_related("rubric_version")
    return [
        {
            "id": record.pk,
            "name": record.name,
            "labels": record.labels,
            "kappa": record.kappa,
            "smallest_difference": on_ten(record),
        }
        for record in used.distinct().order_by("pk")
    ]


def judge_difference(judges: Iterable[dict[str, Any]]) -> float | None:
    """The largest of their smallest real differences, on a scale from 0 to 10; None if none is known."""
    known = [entry["smallest_difference"] for entry in judges]
    return max((value for value in known if value is not None), default=None)


def on_ten(record: JudgeRecord) -> float | None:
    """The record's smallest real difference on a scale from 0 to 10."""
    if record.smallest_difference is None:
        return None
    version = record.rubric_version
    width = float(version.scale_maximum - version.scale_minimum)
    return round(record.smallest_difference * TEN / width, 6)
