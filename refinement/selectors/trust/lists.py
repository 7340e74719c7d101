"""Judges of a project for lists, and of a rubric for its history."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet, Sum

from refinement.models import JudgeRecord, LabelSet, Project, Rubric, Run
from refinement.selectors.trust.facts import fact_words
from refinement.selectors.trust.stored import criteria_of, pending_of
from refinement.selectors.trust.words import FIRST, Entry, Standing

PAGE_SIZE = 30
MOST_OFFERED = 100
MOST_HISTORY = 24
COUNTED_RUNS = 1_000


@dataclass(frozen=True, slots=True)
class JudgeLine:
    """A judge in the list."""

    record: JudgeRecord
    fact: Standing
    pending: bool
    hidden: bool  # from the reader, who labels or scores blind

    @property
    def missing(self) -> int:
        """Texts to label for a first answer."""
        return max(FIRST - self.record.labels, 0)

    @property
    def has_labels(self) -> bool:
        return not self.missing

    @property
    def has_noise(self) -> bool:
        return self.record.smallest_difference is not None


def judges_of(project: Project, words: str = "") -> QuerySet[JudgeRecord]:
    """The project's judges: those with labels first, the most labels first, then the newest."""
    rows = JudgeRecord.objects.filter(project=project, rubric_version__rubric__archived_at__isnull=True)
    if words:
        rows = rows.filter(Q(name__icontains=words) | Q(rubric_version__rubric__name__icontains=words))
    return rows.select_related("rubric_version__rubric").defer("panel").order_by("-labels", "-id")


def judge_lines(rows: Sequence[JudgeRecord], hidden: Collection[int]) -> list[JudgeLine]:
    """The rows of a page; two more queries. `hidden` are rubrics."""
    numbers = [row.pk for row in rows]
    pending, found = pending_of(numbers), criteria_of(numbers)
    return [
        JudgeLine(
            row,
            fact_of(row, found.get(row.pk, (0, []))[1]),
            row.pk in pending,
            row.rubric_version.rubric_id in hidden,
        )
        for row in rows
    ]


def fact_of(row: JudgeRecord, criteria: Sequence[Entry]) -> Standing:
    return fact_words(
        labels=row.labels, kappa=row.kappa, alpha=row.alpha, worse=row.worse_than_people, criteria=criteria
    )


def judges_of_rubric(rubric: Rubric) -> list[JudgeRecord]:
    """The rubric's judges over versions and models, the newest versions first."""
    rows = JudgeRecord.objects.filter(rubric_version__rubric=rubric).select_related("rubric_version")
    return list(rows.defer("panel").order_by("-rubric_version__number", "-labels", "-id")[:MOST_HISTORY])


def best_judge(rubric: Rubric, version: int) -> JudgeRecord | None:
    """The judge of this version with the most labels."""
    rows = JudgeRecord.objects.filter(rubric_version=version).defer("panel")
    return rows.order_by("-labels", "-id").first()


def rounds_scored(record: JudgeRecord) -> int:
    """How many rounds of the newest runs the judge scored; 0 for a board, which runs do not name."""
    if record.is_board:
        return 0
    runs = Run.objects.filter(rubric_version=record.rubric_version_id, judge_model=record.model)
    newest = runs.order_by("-id").values("pk")[:COUNTED_RUNS]
    return Run.objects.filter(pk__in=newest).aggregate(total=Sum("rounds_judged"))["total"] or 0


def label_set_of(rubric: Rubric) -> LabelSet | None:
    """The rubric's newest label set that is open."""
    return LabelSet.objects.filter(rubric=rubric, archived_at__isnull=True).order_by("-id").first()
