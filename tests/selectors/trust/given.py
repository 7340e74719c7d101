"""Judges with labels and stored reports, as rows."""

from typing import Any

from django.utils import timezone

from refinement.models import (
    JudgeRecord,
    Label,
    LabelItem,
    LabelRater,
    LabelSet,
    Project,
    Report,
    ReportKind,
    ReportStatus,
    RubricVersion,
)
from refinement.services.trust.judges import judge_ensure
from tests.selectors.trust.reports import a_full_report
from tests.services.trust.given import a_rubric

KEYS = ("structure", "plain_words", "complete", "upgrade_steps", "grounded")
TEXT = "# Release 2.4\n\n- Imports are twice as fast (ING-412).\n"


def a_version(project: Project, slug: str = "notes") -> RubricVersion:
    return a_rubric(project, *KEYS, slug=slug, least=0, most=10)


def a_judge(
    project: Project, *, version: RubricVersion | None = None, model: str = "gemma3:27b"
) -> JudgeRecord:
    return judge_ensure(project=project, version=version or a_version(project), model=model)


def reported(record: JudgeRecord, result: dict[str, Any] | None = None, **fields: Any) -> Report:
    """Stores the judge's report, and its figures on its row, as a worker does."""
    result = a_full_report() if result is None else result
    now = timezone.now()
    values = {"status": ReportStatus.DONE, "computed": 1, "computed_at": now, "result": result} | fields
    row, _ = Report.objects.update_or_create(
        kind=ReportKind.TRUST, subject=record.pk, other=0,
        defaults={"project": record.project, "woken_at": now} | values,
    )  # fmt: skip
    whole = result["composite"]
    JudgeRecord.objects.filter(pk=record.pk).update(
        labels=result["labels"], kappa=whole["kappa"]["value"], alpha=whole["alpha"]["value"],
        smallest_difference=whole["smallest_difference"]["value"], worse_than_people=False, computed_at=now,
    )  # fmt: skip
    return row


def a_labelled_text(
    record: JudgeRecord, *, key: str = "a", judge: int = 9, people: tuple[int, ...] = (5, 6), **fields: Any
) -> LabelItem:
    """A text of the rubric's label set, on which the recorded judge and people differ about `grounded`."""
    version = record.rubric_version
    label_set, _ = LabelSet.objects.get_or_create(
        project=record.project, rubric=version.rubric, rubric_version=version, name="October"
    )
    text = fields.pop("text", TEXT)
    item = LabelItem.objects.create(
        label_set=label_set, position=label_set.items.count() + 1, key=key, text=text, text_chars=len(text),
        title="Release 2.4", **fields,
    )  # fmt: skip
    said = "Every claim has a number, such as “Imports are twice as fast (ING-412)”."
    scored(item, "gemma", judge, said, judge_model=record.model)
    for name, score in zip(("Ada", "Ben", "Cleo"), people, strict=False):
        scored(item, name, score, f"{name} read the ticket: it is about exports.")
    return item


def scored(item: LabelItem, name: str, score: int, reason: str, **rater: Any) -> Label:
    row, _ = LabelRater.objects.get_or_create(label_set=item.label_set, name=name, defaults=rater)
    scores = dict.fromkeys(KEYS, 7) | {"grounded": score}
    return Label.objects.create(item=item, rater=row, scores=scores, reasons={"grounded": reason})


def apart(*entries: dict[str, Any], count: int = 0) -> dict[str, Any]:
    """The part of a report about disagreements."""
    counts: dict[str, int] = {}
    for entry in entries:
        counts[entry["criterion"]] = counts.get(entry["criterion"], 0) + 1
    return {"count": count or len(entries), "by_criterion": counts, "threshold": 3.0, "top": list(entries)}


def a_gap(
    item: LabelItem, criterion: str = "grounded", judge: float = 9, people: float = 5.5
) -> dict[str, Any]:
    return {"item": f"label:{item.pk}", "criterion": criterion, "judge": judge, "people": people, "raters": 2}
