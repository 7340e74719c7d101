"""Label sets of a project: lists, a set's texts, and its labels for exports."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from refinement.engine.types import Rubric
from refinement.interchange.labels.types import ItemText, Rating
from refinement.interchange.labels.writing import (
    items_to_csv,
    items_to_jsonl,
    ratings_to_csv,
    ratings_to_jsonl,
)
from refinement.models import Criterion, Label, LabelItem, LabelSet, Project, RubricVersion
from refinement.selectors.trust.label_queue import labels_counted, waiting_texts, with_people

PAGE_SIZE = 25
ITEMS_PAGE_SIZE = 50
BATCH = 2_000
MOST_RUBRICS = 200


@dataclass(frozen=True, slots=True)
class SetLine:
    """A label set in a list."""

    row: LabelSet
    items: int
    people: int  # who gave labels
    labels: int  # by people
    mine: int  # texts that the reader can still label


def label_sets_of(project: Project, *, archived: bool = False, rubric: str = "") -> QuerySet[LabelSet]:
    """The project's label sets, newest first."""
    rows = LabelSet.objects.filter(project=project, archived_at__isnull=not archived)
    if rubric:
        rows = rows.filter(rubric__slug=rubric)
    return rows.select_related("rubric", "rubric_version").order_by("-id")


def label_sets_page(
    project: Project, *, reader: int, archived: bool = False, rubric: str = "", page: str = "1"
) -> tuple[Page[LabelSet], list[SetLine]]:
    """A page of label sets with their counts. A fixed number of queries."""
    chosen: Page[LabelSet] = Paginator(
        label_sets_of(project, archived=archived, rubric=rubric), PAGE_SIZE
    ).get_page(page)
    return chosen, set_lines(list(chosen.object_list), reader)


def set_lines(rows: list[LabelSet], reader: int | None) -> list[SetLine]:
    numbers = [row.pk for row in rows]
    items = dict(
        LabelItem.objects.filter(label_set__in=numbers)
        .order_by()
        .values_list("label_set")
        .annotate(n=Count("pk"))
    )
    given = Label.objects.filter(rater__label_set__in=numbers, rater__judge_model="").order_by()
    counted = given.values_list("rater__label_set").annotate(
        n=Count("pk"), people=Count("rater", distinct=True)
    )
    labels = {pk: (count, people) for pk, count, people in counted}
    open_sets = LabelSet.objects.filter(pk__in=numbers, archived_at__isnull=True)
    mine = waiting_texts(open_sets, reader) if reader is not None else {}
    return [
        SetLine(
            row=row,
            items=items.get(row.pk, 0),
            people=labels.get(row.pk, (0, 0))[1],
            labels=labels.get(row.pk, (0, 0))[0],
            mine=mine.get(row.pk, 0),
        )
        for row in rows
    ]


@dataclass(frozen=True, slots=True)
class SetFacts:
    """A set's progress. A text is done when as many people as wanted have labelled it."""

    items: int
    with_text: int
    done: int
    labels: int
    wrong: int

    @property
    def share(self) -> int:
        """Percent of the texts that are done."""
        return round(100 * self.done / self.with_text) if self.with_text else 0


def set_facts(label_set: LabelSet) -> SetFacts:
    """Three queries."""
    items = label_set.items.aggregate(n=Count("pk"), texts=Count("pk", filter=Q(text_chars__gt=0)))
    texts = with_people(label_set.items.filter(text_chars__gt=0))
    done = texts.filter(people__gte=label_set.raters_wanted)  # type: ignore[misc]
    labels = Label.objects.filter(rater__label_set=label_set, rater__judge_model="").aggregate(
        n=Count("pk"), wrong=Count("pk", filter=~Q(wrong=[]))
    )
    return SetFacts(items["n"], items["texts"], done.count(), labels["n"], labels["wrong"])


def items_page(label_set: LabelSet, page: str) -> Page[LabelItem]:
    """A page of texts with the number of people and recorded judges, without the texts themselves."""
    return Paginator(items_counted(label_set), ITEMS_PAGE_SIZE).get_page(page)


def items_counted(label_set: LabelSet) -> QuerySet[LabelItem]:
    rows = with_people(label_set.items.defer("text", "task")).select_related("round")
    return rows.annotate(judges=labels_counted(~Q(rater__judge_model=""))).order_by("position")


def labels_of(item: LabelItem) -> list[Label]:
    """The text's labels, people first."""
    rows = Label.objects.filter(item=item).select_related("rater")
    return list(rows.order_by("rater__judge_model", "rater__name", "id"))


def ratings_of(label_set: LabelSet) -> Iterator[Rating]:
    """All scores of the set for an export, by text and rater."""
    rows = (
        Label.objects.filter(item__label_set=label_set)
        .annotate(key=F("item__key"), who=F("rater__name"), model=F("rater__judge_model"))
        .order_by("item__position", "rater_id", "id")
    )
    for row in rows.iterator(BATCH):
        yield from label_ratings(row)


def label_ratings(row: Label) -> Iterable[Rating]:
    for key, score in row.scores.items():
        yield Rating(
            line=0,
            item=row.key,  # type: ignore[attr-defined]
            criterion=key,
            rater=row.who,  # type: ignore[attr-defined]
            score=Decimal(score),
            reason=row.reasons.get(key, ""),
            judge=row.model,  # type: ignore[attr-defined]
            wrong=key in row.wrong,
        )


def item_texts_of(label_set: LabelSet) -> Iterator[ItemText]:
    """All texts of the set for an export, in their order."""
    rows = label_set.items.filter(text_chars__gt=0).order_by("position")
    for row in rows.iterator(200):
        yield ItemText(0, row.key, row.text, row.task, row.task_type)


def versions_to_label(project: Project) -> list[RubricVersion]:
    """The newest version of each rubric with criteria, by name."""
    newer = RubricVersion.objects.filter(rubric=OuterRef("rubric"), number__gt=OuterRef("number"))
    criteria = Criterion.objects.filter(version=OuterRef("pk"))
    rows = RubricVersion.objects.filter(
        ~Exists(newer), Exists(criteria), rubric__project=project, rubric__archived_at__isnull=True
    )
    return list(rows.select_related("rubric").order_by("name", "pk")[:MOST_RUBRICS])


EXPORTS: dict[tuple[str, str], Callable[[LabelSet], Iterator[str]]] = {
    ("ratings", "csv"): lambda row: ratings_to_csv(ratings_of(row)),
    ("ratings", "jsonl"): lambda row: ratings_to_jsonl(ratings_of(row)),
    ("items", "csv"): lambda row: items_to_csv(item_texts_of(row)),
    ("items", "jsonl"): lambda row: items_to_jsonl(item_texts_of(row)),
}


@dataclass(frozen=True, slots=True)
class LabelLine:
    """A label in the table of a text: a cell for each criterion."""

    label: Label
    cells: tuple[tuple[str, str, str, bool], ...]  # key, score, reason, whether it was wrong


def label_lines(item: LabelItem, rubric: Rubric) -> list[LabelLine]:
    """The text's labels with their scores in rubric order."""
    keys = [criterion.key for criterion in rubric.criteria]
    return [
        LabelLine(
            row,
            tuple((key, row.scores.get(key, ""), row.reasons.get(key, ""), key in row.wrong) for key in keys),
        )
        for row in labels_of(item)
    ]
