"""Which texts a measurement can judge: rounds of runs, an experiment's rounds, a label set."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from django.db.models import Q, QuerySet

from refinement.models import (
    Experiment,
    HumanScore,
    LabelItem,
    LabelSet,
    Project,
    Round,
    RoundOrigin,
    Rubric,
    RunSource,
    Suite,
)
from refinement.selectors.reviews.blindness import without_hidden

RUNS, EXPERIMENT, SUITE, LABELS, PASTED = "runs", "experiment", "suite", "labels", "pasted"
EARLIER = "earlier"  # texts of an earlier measurement
NEAR, NEWEST = "near", "newest"
MOST_LOOKED_AT = 5_000
MOST_CHOICES = 100
Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class RoundKey:
    """A judged round, for choosing."""

    pk: int
    run: int
    composite: Decimal
    labelled: bool


def rounds_of(rubric: Rubric) -> QuerySet[Round]:
    """The rubric's judged rounds with a text, of runs that are shown and not the prepared example."""
    rows = Round.objects.filter(run__rubric=rubric, composite__isnull=False)
    rows = rows.exclude(origin=RoundOrigin.ABSENT).exclude(Q(run__source=RunSource.EXAMPLE))
    return without_hidden(rows, "run")


def rounds_in(rubric: Rubric, *, experiment: int | None = None, suite: int | None = None) -> QuerySet[Round]:
    rows = rounds_of(rubric).filter(run__archived_at=None)
    if experiment is not None:
        rows = rows.filter(run__experiment=experiment)
    if suite is not None:
        rows = rows.filter(run__suite=suite)
    return rows


def rounds_chosen(
    rows: QuerySet[Round], *, count: int, order: str, mark: Decimal | None, runs: int | None = None
) -> list[int]:
    """Up to `count` rounds: the newest, or half near the pass mark and the rest from low and high scores.

    Rounds that people scored come first in each part. `runs` limits them to the newest runs.
    """
    if runs is not None:
        newest = rows.order_by("-run_id").values_list("run", flat=True).distinct()[:runs]
        rows = rows.filter(run__in=list(newest))
    keys = round_keys(rows.order_by("-run_id", "-number")[:MOST_LOOKED_AT])
    if order == NEWEST or mark is None or len(keys) <= count:
        return [key.pk for key in keys[:count]]
    near = sorted(keys, key=lambda key: (not key.labelled, abs(key.composite - mark)))[: (count + 1) // 2]
    taken = {key.pk for key in near}
    rest = sorted((key for key in keys if key.pk not in taken), key=lambda key: key.composite)
    return [key.pk for key in (*near, *from_both_ends(rest, count - len(near)))]


def round_keys(rows: QuerySet[Round]) -> list[RoundKey]:
    found = list(rows.values_list("pk", "run_id", "composite"))
    scored = HumanScore.objects.filter(round__in=rows.values("pk")) if found else HumanScore.objects.none()
    labelled = set(scored.values_list("round_id", flat=True))
    return [
        RoundKey(pk, run, composite, pk in labelled) for pk, run, composite in found if composite is not None
    ]


def from_both_ends(keys: Sequence[RoundKey], count: int) -> list[RoundKey]:
    """Alternately the lowest and the highest score that is left, evenly over each half."""
    half = len(keys) // 2
    low, high = list(keys[:half]), list(reversed(keys[half:]))
    return [*evenly(low, count // 2), *evenly(high, count - count // 2)][:count]


def evenly(keys: Sequence[Entry], count: int) -> list[Entry]:
    """At most `count` of these, at even distances."""
    if count >= len(keys):
        return list(keys)
    return [keys[place * len(keys) // count] for place in range(count)]


def rounds_loaded(keys: Sequence[int]) -> list[Round]:
    """These rounds with their texts and their runs' tasks, in this order."""
    rows = Round.objects.filter(pk__in=keys).select_related("run").defer("feedback", "run__snapshot")
    found = {row.pk: row for row in rows}
    return [found[key] for key in keys if key in found]


def label_sets_of(rubric: Rubric) -> list[LabelSet]:
    rows = LabelSet.objects.filter(rubric=rubric, archived_at=None)
    return list(rows.order_by("-pk")[:MOST_CHOICES])


def label_items_of(label_set: LabelSet, count: int | None = None) -> list[LabelItem]:
    """The set's texts; imported ratings may come without."""
    rows = label_set.items.exclude(text="").select_related("round__run")
    rows = without_hidden(rows, "round__run")
    return list(rows.order_by("position")[:count])


def experiments_of(project: Project) -> list[Experiment]:
    return list(Experiment.objects.filter(project=project).order_by("-pk")[:MOST_CHOICES])


def suites_of(project: Project) -> list[Suite]:
    return list(Suite.objects.filter(project=project, archived_at=None).order_by("name")[:MOST_CHOICES])


def judge_used(rubric: Rubric) -> str:
    """The judge of the rubric's newest run, as `endpoint/model`; empty without one."""
    run = without_hidden(rubric.runs.exclude(source=RunSource.EXAMPLE)).order_by("-pk").first()
    return f"{run.judge_endpoint}/{run.judge_model}" if run else ""
