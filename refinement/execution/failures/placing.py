"""Places issues without a category, in a known or a new one. What people changed is never touched.

Issues that a person moved, and issues that have a category, are left alone; so is everything about a category
but new suggestions to merge it. Imports numpy and scipy, so it is imported by the report only.
"""

from collections.abc import Sequence
from typing import NamedTuple

from django.db import transaction

from refinement.execution.failures.embedding import embeddings_of
from refinement.models import FailureCategory, FailureIssue, FailureSuggestion
from refinement.models.failures.categories import NAME_CHARS
from refinement.taxonomy.grouping import Categorised, Issue, Known, categorise

MOST_PLACED = 20_000  # at a time
MOST_RETRIED = 3_000  # issues that fitted nowhere before
MOST_EMBEDDED = 2_000
MOST_CATEGORIES = 500  # of a project


class Placed(NamedTuple):
    """How many issues were placed, and how many new categories there are."""

    issues: int
    categories: int


def place_issues(project_id: int, new: int) -> Placed:
    """Places the newest issues without a category; `new` of them were read just now."""
    free = FailureIssue.objects.filter(project=project_id, category__isnull=True, by_hand=False)
    newest = free.order_by("-run_id", "round_number", "kind", "position")
    rows = list(newest.only("criterion", "guessed", "run", "excerpt")[: min(MOST_PLACED, new + MOST_RETRIED)])
    if not rows:
        return Placed(0, 0)
    rows.reverse()  # the oldest first, so that more new issues do not change the order of the others
    categories = list(FailureCategory.objects.filter(project=project_id).order_by("pk"))
    issues = [Issue(row.excerpt, row.criterion, row.run_id, not row.guessed) for row in rows]
    known = [Known(entry.criterion, tuple(entry.examples) or (entry.automatic_name,)) for entry in categories]
    vectors = None
    if len(rows) <= MOST_EMBEDDED:
        vectors = embeddings_of([issue.text for issue in issues], [list(entry.examples) for entry in known])
    found = (
        categorise(issues, known)
        if vectors is None
        else categorise(issues, known, vectors=vectors[0], known_vectors=vectors[1])
    )
    return store(project_id, rows, categories, found)


@transaction.atomic
def store(
    project_id: int,
    rows: Sequence[FailureIssue],
    categories: Sequence[FailureCategory],
    found: Categorised,
) -> Placed:
    """Writes new categories, places and suggestions. An issue that a person moved meanwhile stays there."""
    room = max(0, MOST_CATEGORIES - len(categories))
    new = FailureCategory.objects.bulk_create(
        FailureCategory(
            project_id=project_id,
            criterion=entry.criterion,
            automatic_name=entry.name[:NAME_CHARS],
            examples=list(entry.examples),
        )
        for entry in found.new[:room]
    )
    every = [*categories, *new]
    placed = []
    for row, place, closeness in zip(rows, found.places, found.closeness, strict=True):
        if place is not None and place < len(every):
            row.category, row.closeness = every[place], round(closeness, 4)
            placed.append(row)
    moved = FailureIssue.objects.filter(pk__in=[row.pk for row in placed], by_hand=True)
    by_hand = set(moved.values_list("pk", flat=True))
    placed = [row for row in placed if row.pk not in by_hand]
    FailureIssue.objects.bulk_update(placed, ["category", "closeness"], batch_size=200)
    suggest(project_id, every, found.similar)
    return Placed(len(placed), len(new))


def suggest(
    project_id: int, categories: Sequence[FailureCategory], similar: Sequence[tuple[int, int, float]]
) -> None:
    """Stores pairs to merge. A pair that was dismissed stays dismissed."""
    pairs = [
        (categories[a], categories[b], likeness) for a, b, likeness in similar if max(a, b) < len(categories)
    ]
    FailureSuggestion.objects.bulk_create(
        (
            FailureSuggestion(
                project_id=project_id,
                first=min(one, other, key=lambda entry: entry.pk),
                second=max(one, other, key=lambda entry: entry.pk),
                likeness=likeness,
            )
            for one, other, likeness in pairs
            if not one.merged_into_id and not other.merged_into_id
        ),
        ignore_conflicts=True,
    )
