"""The categories of a round's issues, for the run page."""

from typing import NamedTuple

from refinement.models import FailureIssue, IssueKind, Run, RunSource
from refinement.selectors.failures.wording import worded_visibly


class Place(NamedTuple):
    """The category that an issue on a run page counts for."""

    pk: int
    name: str


def places_in_round(run: Run, number: int) -> dict[int, Place]:
    """The category of each issue of a round, by its position. One query; none for the prepared example."""
    if run.source == RunSource.EXAMPLE:
        return {}
    rows = FailureIssue.objects.filter(
        run=run, round_number=number, kind=IssueKind.ISSUE, category__isnull=False
    ).select_related("category__merged_into")
    found = {}
    for row in rows.order_by("position"):
        assert row.category is not None
        found[row.position] = row.category.merged_into or row.category
    worded_visibly(found.values())
    return {position: Place(category.pk, category.shown_name) for position, category in found.items()}
