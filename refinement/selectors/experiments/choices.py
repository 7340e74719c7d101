"""What the launch form of experiments offers: suites, their versions, and versions of rubrics."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from refinement.engine.types import Rubric as Definition
from refinement.models import Project, RubricVersion, Suite, SuiteVersion
from refinement.selectors.rubrics.definitions import definition_of

MOST_SUITES = 300
MOST_VERSIONS = 50
MOST_RUBRIC_VERSIONS = 1_000
EACH_RUBRIC = 5  # newest versions; older ones stay chosen where they are
NOTE_CHARS = 40


@dataclass(frozen=True, slots=True)
class SuiteChoices:
    """The active suites with tasks, the chosen version, and the other versions of its suite."""

    suites: list[tuple[str, str]]
    version: SuiteVersion
    versions: list[tuple[str, str]]


def suite_choices(project: Project, slug: str, number: str) -> SuiteChoices | None:
    """The suite with this slug in this version, by default the newest of each; None without any suite."""
    rows = Suite.objects.filter(
        project=project, archived_at__isnull=True, versions__task_count__gt=0
    ).distinct()
    suites = list(rows.order_by("-pk")[:MOST_SUITES])
    if not suites:
        return None
    suite = next((each for each in suites if each.slug == slug), suites[0])
    versions = list(suite.versions.order_by("-number")[:MOST_VERSIONS])
    wanted = [each for each in versions if str(each.number) == number]
    version = (wanted or versions)[0]
    version.suite = suite
    named = [(each.slug, each.name) for each in sorted(suites, key=lambda each: each.name.casefold())]
    return SuiteChoices(named, version, [(str(each.number), version_words(each)) for each in versions])


def version_words(version: SuiteVersion) -> str:
    count = f"{version.task_count:,} task{'' if version.task_count == 1 else 's'}"
    note = f": {version.note[:NOTE_CHARS]}" if version.note else ""
    return f"Version {version.number}, {count}{note}"


def rubric_version_choices(project: Project, chosen: Collection[str]) -> list[Any]:
    """The newest versions of each active rubric in groups, and those that are chosen already."""
    rows = RubricVersion.objects.filter(rubric__project=project, rubric__archived_at__isnull=True)
    rows = rows.order_by("rubric__name", "rubric_id", "-number")
    groups: dict[str, tuple[str, list[tuple[str, str]]]] = {}
    known = set()
    for slug, name, number, note in rows.values_list("rubric__slug", "rubric__name", "number", "note")[
        :MOST_RUBRIC_VERSIONS
    ]:
        reference = f"{slug}@{number}"
        options = groups.setdefault(slug, (name, []))[1]
        if len(options) < EACH_RUBRIC or reference in chosen:
            words = f"{name} @ v{number}{f': {note[:NOTE_CHARS]}' if note else ''}"
            options.append((reference, words))
            known.add(reference)
    missing = [
        (reference, f"{reference} (archived)") for reference in chosen if reference and reference not in known
    ]
    return [*groups.values(), *missing]


def rubric_versions(
    project: Project, references: Collection[str]
) -> dict[str, tuple[RubricVersion, Definition]]:
    """The versions that references such as `slug@3` name, with their rubrics. A fixed number of queries."""
    wanted = {}
    for reference in references:
        slug, _, number = reference.rpartition("@")
        if slug and number.isascii() and number.isdigit() and len(number) < 9:
            wanted[slug, int(number)] = reference
    rows = RubricVersion.objects.filter(
        rubric__project=project,
        rubric__slug__in={slug for slug, _ in wanted},
        number__in={number for _, number in wanted},
    )
    found = {}
    for version in rows.select_related("rubric").prefetch_related("criteria", "checks"):
        named = wanted.get((version.rubric.slug, version.number))
        if named is not None:
            found[named] = (version, definition_of(version))
    return found
