"""How far people's scores of a run are from its judge's."""

from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models import Avg, Count, DecimalField, ExpressionWrapper, F, Q

from refinement.models import HumanScore
from refinement.selectors.reviews.blindness import without_hidden


class PeopleGap(NamedTuple):
    """People's mean composite, and how far it is above the judge's for the same texts."""

    mean: Decimal
    gap: Decimal  # people minus judge; negative if people scored lower
    people: int
    on_result: bool  # of the run's best round; otherwise of all rounds that people scored


def people_gap(run: int) -> PeopleGap | None:
    """The gap of one run; None if nobody scored a judged round. One query."""
    return people_gaps([run]).get(run)


def people_gaps(runs: Collection[int]) -> dict[int, PeopleGap]:
    """The gap of each run that people scored, by run. One query.

    Only the best round counts if people scored it, otherwise all rounds that both judge and people scored.
    Runs that the reader scores blind are left out.
    """
    rows = without_hidden(
        HumanScore.objects.filter(run__in=runs, round__composite__isnull=False).order_by(), "run"
    )
    gap = ExpressionWrapper(F("composite") - F("round__composite"), output_field=DecimalField())
    best = Q(round__number=F("run__best_round"))
    found = rows.values("run").annotate(
        mean=Avg("composite"),
        gap=Avg(gap),
        people=Count("author_name", distinct=True),
        best_mean=Avg("composite", filter=best),
        best_gap=Avg(gap, filter=best),
        best_people=Count("pk", filter=best),
    )
    return {row["run"]: _chosen(row) for row in found}


def _chosen(row: Mapping[str, Any]) -> PeopleGap:
    on_result = bool(row["best_people"])
    names = ("best_mean", "best_gap", "best_people") if on_result else ("mean", "gap", "people")
    mean, gap, people = (row[name] for name in names)
    return PeopleGap(Decimal(mean), Decimal(gap), people, on_result)
