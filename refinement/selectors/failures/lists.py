"""Short lists of categories and criteria for the pages."""

from collections.abc import Collection

from refinement.models import Criterion, FailureCategory, Project

MOST_TARGETS = 200


def merge_targets(project: Project, without: FailureCategory | None) -> list[FailureCategory]:
    """The categories that issues can be moved to, or another one merged into, by name."""
    rows = FailureCategory.objects.filter(project=project, merged_into__isnull=True).defer("examples", "note")
    found = list(rows.exclude(pk=without.pk if without else 0)[:MOST_TARGETS])
    return sorted(found, key=lambda row: row.shown_name.casefold())


def merged_of(category: FailureCategory) -> list[FailureCategory]:
    """The categories that count for this one."""
    return list(FailureCategory.objects.filter(merged_into=category).defer("examples")[:MOST_TARGETS])


def names_of_criteria(project: Project, keys: Collection[str]) -> dict[str, str]:
    """The newest name of each criterion in the project's rubrics."""
    rows = Criterion.objects.filter(version__rubric__project=project, key__in=[key for key in keys if key])
    return dict(rows.order_by("version").values_list("key", "name"))
