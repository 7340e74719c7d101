"""Who labels what next: texts that wait for raters, and each rater's progress."""

from dataclasses import dataclass

from django.db.models import Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from refinement.models import Label, LabelItem, LabelRater, LabelSet

TEXTS = ("text", "task")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a rater is. `waiting` are texts that they can still label."""

    labelled: int
    waiting: int

    @property
    def total(self) -> int:
        return self.labelled + self.waiting


def with_people(items: QuerySet[LabelItem]) -> QuerySet[LabelItem]:
    """Adds how many people labelled each text, as `people`."""
    return items.annotate(people=labels_counted(Q(rater__judge_model="")))


def labels_counted(which: Q) -> Coalesce:
    """How many of such labels a text has, without a join: a page counts only those of its texts."""
    given = Label.objects.filter(which, item=OuterRef("pk")).order_by()
    counted = given.values("item").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), Value(0))


def unlabelled(label_set: LabelSet, rater: LabelRater | None) -> QuerySet[LabelItem]:
    """Texts that this rater has not labelled; all for None."""
    items = label_set.items.filter(text_chars__gt=0)
    if rater is None:
        return items
    return items.filter(~Exists(Label.objects.filter(item=OuterRef("pk"), rater=rater)))


def waiting_for(label_set: LabelSet, rater: LabelRater | None) -> QuerySet[LabelItem]:
    """Texts that this rater can label: not labelled by them, nor by as many people as wanted. In order."""
    items = with_people(unlabelled(label_set, rater))
    fewer = items.filter(people__lt=label_set.raters_wanted)  # type: ignore[misc]
    return fewer.order_by("position")


def next_item(label_set: LabelSet, rater: LabelRater, after: int = 0) -> LabelItem | None:
    """The next text for this rater behind a position, or the first one."""
    waiting = waiting_for(label_set, rater).select_related("round__run")
    return (waiting.filter(position__gt=after).first() if after else None) or waiting.first()


def progress_of(label_set: LabelSet, rater: LabelRater) -> Progress:
    return Progress(rater.labels.count(), waiting_for(label_set, rater).count())


@dataclass(frozen=True, slots=True)
class RaterLine:
    """A rater in a set's list. `waiting` is None for those who cannot label here."""

    pk: int
    name: str
    kind: str  # member, outside, judge
    judge: str
    labels: int
    waiting: int | None
    is_open: bool
    is_next: bool = False


def rater_lines(label_set: LabelSet) -> list[RaterLine]:
    """The raters with labels or an open queue; the member with most texts to label is next. Two queries."""
    raters = label_set.raters.annotate(given=Count("labels")).order_by("judge_model", "-given", "name")
    rows = [rater for rater in raters if rater.given or rater.opened_at]
    waiting = waiting_counts(label_set, [rater.pk for rater in rows if rater.user_id is not None])
    # Who has a queue open comes first, then who has most to do.
    order = sorted(
        (rater for rater in rows if waiting.get(rater.pk)),
        key=lambda rater: (rater.opened_at is None, -waiting[rater.pk]),
    )
    following = order[0].pk if order else None
    return [
        RaterLine(
            pk=rater.pk,
            name=rater.name,
            kind="judge" if rater.is_judge else "member" if rater.user_id is not None else "outside",
            judge=rater.judge_model,
            labels=rater.given,
            waiting=waiting.get(rater.pk),
            is_open=rater.opened_at is not None,
            is_next=rater.pk == following,
        )
        for rater in rows
    ]


def waiting_counts(label_set: LabelSet, raters: list[int]) -> dict[int, int]:
    """How many texts each of these raters can still label."""
    if not raters:
        return {}
    waiting = waiting_for(label_set, None)
    done = Label.objects.filter(rater__in=raters, item__in=waiting.order_by().values("pk"))
    counted = dict(done.order_by().values_list("rater").annotate(n=Count("pk")))
    total = waiting.count()
    return {rater: total - counted.get(rater, 0) for rater in raters}


def waiting_texts(label_sets: QuerySet[LabelSet], user: int) -> dict[int, int]:
    """How many texts of each set this member can still label, without sets with none. One query."""
    mine = Label.objects.filter(item=OuterRef("pk"), rater__user=user)
    items = with_people(LabelItem.objects.filter(label_set__in=label_sets, text_chars__gt=0))
    items = items.filter(~Exists(mine), people__lt=F("label_set__raters_wanted"))  # type: ignore[misc]
    return dict(items.order_by().values_list("label_set").annotate(n=Count("pk")))
