"""Chooses rounds to label: low, middle and high scores, and all task types, in equal parts."""

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal

from refinement.models import LabelSet, Project, Round, Rubric
from refinement.models.runs.runs import RunSource
from refinement.selectors.reviews.blindness import shown_runs

MOST_CANDIDATES = 5_000  # the newest ones
STRATA = ("low", "middle", "high")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The rounds, and how many there are of each stratum."""

    rounds: tuple[int, ...]
    strata: dict[str, int]
    task_types: tuple[str, ...]
    found: int  # to choose from


def rounds_chosen(
    project: Project,
    rubric: Rubric,
    count: int,
    *,
    task_type: str = "",
    without: LabelSet | None = None,
) -> Chosen:
    """About `count` judged rounds of the rubric's runs, an equal share of each stratum and task type.

    The same data gives the same choice. Rounds that the set `without` has are left out.
    """
    runs = shown_runs(project).filter(rubric=rubric).exclude(source=RunSource.EXAMPLE)
    if task_type:
        runs = runs.filter(task_type=task_type)
    rounds = Round.objects.filter(run__in=runs, composite__isnull=False, candidate_chars__gt=0)
    if without is not None:
        rounds = rounds.exclude(label_items__label_set=without)
    newest = rounds.order_by("-id").values_list("pk", "composite", "run__task_type")[:MOST_CANDIDATES]
    rows = [(pk, score, kind) for pk, score, kind in newest if score is not None]
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    marks = _thirds([composite for _, composite, _ in rows])
    for pk, composite, kind in rows:
        groups[kind, _stratum(composite, marks)].append(pk)
    picked = _dealt(groups, count)
    strata = {name: sum(stratum == name for _, stratum in picked.values()) for name in STRATA}
    types = sorted({kind for kind, _ in picked.values()})
    return Chosen(tuple(picked), strata, tuple(types), len(rows))


def _thirds(scores: list[Decimal]) -> tuple[Decimal, Decimal]:
    if not scores:
        return Decimal(0), Decimal(0)
    ordered = sorted(scores)
    return ordered[len(ordered) // 3], ordered[2 * len(ordered) // 3]


def _stratum(score: Decimal, marks: tuple[Decimal, Decimal]) -> str:
    if score < marks[0]:
        return "low"
    return "middle" if score < marks[1] else "high"


def _dealt(groups: dict[tuple[str, str], list[int]], count: int) -> dict[int, tuple[str, str]]:
    """One round of each group in turn, newest first, until there are enough."""
    picked: dict[int, tuple[str, str]] = {}
    waiting = {key: list(reversed(groups[key])) for key in sorted(groups)}
    while waiting and len(picked) < count:
        for key in list(waiting):
            if len(picked) < count:
                picked[waiting[key].pop()] = key
            if not waiting[key]:
                del waiting[key]
    return picked


def rounds_with_texts(numbers: tuple[int, ...]) -> list[Round]:
    """These rounds with their runs' tasks, in the given order."""
    rows = Round.objects.select_related("run").only(
        "number", "candidate", "run__task", "run__task_type", "run__producer_family"
    )
    found = rows.in_bulk(numbers)
    return [found[number] for number in numbers if number in found]
