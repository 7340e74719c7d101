"""How far people's scores of a run are from its judge's."""

from collections.abc import Collection
from decimal import Decimal
from typing import NamedTuple

from django.db.models import Avg, Count, DecimalField, ExpressionWrapper, F, QuerySet
from django.db.models.functions import Coalesce

from refinement.models import HumanScore, ReviewRequest, RubricVersion
from refinement.selectors.reviews.blindness import without_hidden

FLAGGED = Decimal("0.15")  # of the scale: 1.5 points of 10


class PeopleGap(NamedTuple):
    """People's mean composite of a run's result, and how far it is above the judge's."""

    mean: Decimal
    gap: Decimal  # people minus judge; negative if people scored lower
    people: int


def people_gap(run: int) -> PeopleGap | None:
    """The gap of one run; None if nobody scored its result. One query."""
    return people_gaps([run]).get(run)


def people_gaps(runs: Collection[int]) -> dict[int, PeopleGap]:
    """The gap of each run whose result people scored, by run. One query.

    The result is the round that people chose, or else the best one. Runs that the reader scores blind are
    left out.
    """
    result = Coalesce("run__chosen_round", "run__best_round")
    rows = without_hidden(
        HumanScore.objects.filter(run__in=runs, round__composite__isnull=False, round__number=result), "run"
    )
    gap = ExpressionWrapper(F("composite") - F("round__composite"), output_field=DecimalField())
    found = rows.order_by().values("run").annotate(mean=Avg("composite"), gap=Avg(gap), people=Count("pk"))
    return {row["run"]: PeopleGap(Decimal(row["mean"]), Decimal(row["gap"]), row["people"]) for row in found}


def is_far(gap: Decimal, version: RubricVersion) -> bool:
    """Whether people and judge are so far apart that lists flag it."""
    return abs(gap) >= FLAGGED * (version.scale_maximum - version.scale_minimum)


def unscored_requests(reader: int) -> QuerySet[ReviewRequest]:
    """The open requests for this person's review of runs that the person has not scored yet.

    Other people's scores of these runs would influence the person's own.
    """
    asked = ReviewRequest.objects.filter(reviewer=reader, closed_at__isnull=True)
    return asked.exclude(run__human_scores__author=reader)
