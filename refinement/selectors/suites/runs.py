"""Runs that become tasks of a suite, as a list to check before."""

from collections.abc import Sequence

from django.db.models import Count

from refinement.models import Project, Run
from refinement.selectors.reviews.blindness import shown_runs


def runs_to_add(project: Project, numbers: Sequence[int]) -> list[Run]:
    """The project's runs with these numbers in the given order, without their texts."""
    rows = (
        shown_runs(project)
        .filter(pk__in=numbers)
        .only("title", "task_type", "created_at")
        .annotate(sources_count=Count("sources"))
    )
    found = {run.pk: run for run in rows}
    return [found[number] for number in dict.fromkeys(numbers) if number in found]
