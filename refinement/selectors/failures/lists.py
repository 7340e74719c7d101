"""Short lists of categories and criteria for the pages."""

from collections.abc import Collection

from django.db.models import Count, QuerySet

from refinement.models import Criterion, FailureCategory, FailureIssue, Project, Rubric
from refinement.selectors.failures.wording import worded_visibly
from refinement.selectors.reviews.blindness import hidden_runs, without_hidden

MOST_TARGETS = 200
MOST_RUBRICS = 12


def merge_targets(project: Project, without: FailureCategory | None) -> list[FailureCategory]:
    """The categories that issues can be moved to, or another one merged into, by name."""
    rows = FailureCategory.objects.filter(project=project, merged_into__isnull=True).defer("examples", "note")
    if hidden_runs():
        rows = rows.filter(pk__in=without_hidden(FailureIssue.objects.all(), "run").values("category"))
    found = list(rows.exclude(pk=without.pk if without else 0)[:MOST_TARGETS])
    worded_visibly(found)
    return sorted(found, key=lambda row: row.shown_name.casefold())


def merged_of(category: FailureCategory) -> list[FailureCategory]:
    """The categories that count for this one."""
    found = list(FailureCategory.objects.filter(merged_into=category).defer("examples")[:MOST_TARGETS])
    worded_visibly(found)
    return found


def rubrics_with(issues: QuerySet[FailureIssue]) -> list[Rubric]:
    """The rubrics whose judges raised these issues, each with its number of them, most first."""
    counts = issues.order_by().values_list("run__rubric").annotate(issues=Count("pk"))
    most = dict(counts.order_by("-issues", "run__rubric_id")[:MOST_RUBRICS])
    rubrics = Rubric.objects.filter(pk__in=most, archived_at__isnull=True)
    found = sorted(rubrics, key=lambda rubric: -most[rubric.pk])
    for rubric in found:
        rubric.issues = most[rubric.pk]  # type: ignore[attr-defined]
    return found


def names_of_criteria(project: Project, keys: Collection[str]) -> dict[str, str]:
    """The newest name of each criterion in the project's rubrics."""
    rows = Criterion.objects.filter(version__rubric__project=project, key__in=[key for key in keys if key])
    return dict(rows.order_by("version_id").values_list("key", "name"))
