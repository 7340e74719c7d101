"""The issues of a category, newest run first, and where a run's issues belong."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Max, Q, QuerySet

from refinement.models import FailureCategory, FailureIssue, Project, Run
from refinement.selectors.failures.categories import CategoryFigures
from refinement.selectors.failures.window import Window
from refinement.selectors.reviews.blindness import without_hidden

PAGE_SIZE = 50
EXAMPLES = 3
FEWEST_RUNS = 5  # of a group, to compare it with the others
MOST_GROUPS = 4


@dataclass(frozen=True, slots=True)
class IssueRow:
    """An issue with its run, and what became of it."""

    pk: int
    run: int
    title: str
    round_number: int
    text: str
    criterion: str
    score: float | None
    fate: str
    category: int | None
    by_hand: bool
    guessed: bool  # the issue does not name its criterion


class Share(NamedTuple):
    """How many runs of a group have the category."""

    kind: str
    label: str
    runs: int
    total: int

    @property
    def share(self) -> float:
        return self.runs / self.total


def issues_in(project: Project, category: FailureCategory | None) -> QuerySet[FailureIssue]:
    """The issues that count for this category, merged ones included; None for what fits nowhere."""
    rows = without_hidden(FailureIssue.objects.filter(project=project), "run")
    if category is None:
        return rows.filter(category__isnull=True)
    merged = FailureCategory.objects.filter(merged_into=category).values("pk")
    return rows.filter(Q(category=category) | Q(category__in=merged))


def issue_page(
    rows: QuerySet[FailureIssue], *, page: int = 1, size: int = PAGE_SIZE
) -> tuple[list[IssueRow], bool]:
    """A page of issues, and whether there are more. Two queries."""
    start = (page - 1) * size
    ordered = rows.order_by("-run_id", "round_number", "kind", "position")
    found = list(ordered.select_related("run")[start : start + size + 1].only(*SHOWN))
    return issue_rows(found[:size]), len(found) > size


SHOWN = (
    *("run__title", "round_number", "next_round", "again", "score", "criterion", "category", "by_hand"),
    "guessed",
    *("excerpt", "position", "kind", "project"),
)


def issue_rows(found: Sequence[FailureIssue]) -> list[IssueRow]:
    """With what became of each: whether its category is raised again in the next round. One query."""
    later = FailureIssue.objects.filter(
        run__in={row.run_id for row in found}, category__isnull=False
    ).order_by()
    raised: dict[tuple[int, int | None], set[int]] = defaultdict(set)
    for run, number, category in later.values_list("run_id", "round_number", "category_id"):
        raised[run, category].add(number)
    return [
        IssueRow(
            row.pk,
            row.run_id,
            row.run.title or "Untitled",
            row.round_number,
            row.excerpt,
            row.criterion,
            row.score,
            fate_of(row, raised.get((row.run_id, row.category_id), ())),
            row.category_id,
            row.by_hand,
            row.guessed,
        )
        for row in found
    ]


def fate_of(row: FailureIssue, raised: Collection[int]) -> str:
    """What became of the issue; `raised` are the run's rounds with an issue of its category."""
    if row.next_round is None:
        return "last round"
    if row.again or row.next_round in raised:
        return f"raised again in round {row.next_round}"
    if later := [number for number in raised if number > row.next_round]:
        return f"came back in round {min(later)}"
    return f"not raised in round {row.next_round}"


def examples_of(project: Project, category: FailureCategory | None, window: Window) -> list[IssueRow]:
    """Typical issues of the category in the window, in different words. Three queries."""
    rows = issues_in(project, category).filter(run__in=window.numbers)
    worded = rows.order_by().values_list("excerpt").annotate(best=Max("closeness"), newest=Max("pk"))
    numbers = [pk for _, _, pk in worded.order_by("-best", "-newest")[:EXAMPLES]]
    found = FailureIssue.objects.filter(pk__in=numbers).select_related("run").only(*SHOWN)
    return issue_rows(list(found.order_by("-closeness", "-pk")))


def shares_of(window: Window, figures: CategoryFigures) -> list[Share]:
    """Where the category comes from: its share by writer and task type, where these differ."""
    having, among = figures.runs, [run for run in window.runs if run.pk in figures.among]
    found: list[Share] = []
    for kind, value in (("Writer", "producer"), ("Task type", "task_type")):
        totals = Counter(getattr(run, value) for run in among)
        counts = Counter(getattr(run, value) for run in among if run.pk in having)
        groups = [
            Share(kind, label or "none", counts[label], total)
            for label, total in totals.items()
            if total >= FEWEST_RUNS
        ]
        if len(groups) > 1:
            found += sorted(groups, key=lambda group: (-group.share, group.label))[:MOST_GROUPS]
    return found


def sources_share(figures: CategoryFigures) -> list[Share]:
    """The same by whether the run had sources. One query."""
    having, among = figures.runs, figures.among
    with_sources = set(Run.objects.filter(pk__in=among, sources__isnull=False).values_list("pk", flat=True))
    groups = []
    for label, chosen in (
        ("without sources", among - with_sources),
        ("with sources", among & with_sources),
    ):
        if len(chosen) >= FEWEST_RUNS:
            groups.append(Share("Sources", label, sum(pk in having for pk in chosen), len(chosen)))
    return groups if len(groups) > 1 else []
