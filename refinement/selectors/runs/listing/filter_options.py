"""Filter choices of a run list: the models, people, task types and tags its runs have."""

from dataclasses import dataclass
from typing import Any

from django.db import connection

from refinement.models import Experiment, Project, Rubric, Suite, User

MOST_OFFERED = 100
# One index lookup per distinct value: each step finds the next larger one.
VALUES = """
WITH RECURSIVE found(value) AS (
    SELECT (SELECT MIN({column}) FROM {table} WHERE project_id = %s{condition})
    UNION ALL
    SELECT (SELECT MIN({column}) FROM {table} WHERE project_id = %s{condition} AND {column} > found.value)
    FROM found WHERE found.value IS NOT NULL
)
SELECT value FROM found WHERE value IS NOT NULL LIMIT %s
"""
RUNS = {"table": "refinement_run", "condition": " AND archived_at IS NULL"}
TAGS = {"table": "refinement_runtag", "condition": ""}
Choices = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The choices of each filter, as value and label."""

    rubric: Choices
    producer: Choices
    judge: Choices
    person: Choices
    task_type: Choices
    tag: Choices
    suite: Choices
    experiment: Choices


def run_options(project: Project) -> RunOptions:
    """Filter values of a project's runs: at most a hundred of each, in a fixed number of queries."""
    rubrics = Rubric.objects.filter(project=project).order_by("name", "pk").values_list("slug", "name")
    suites = Suite.objects.filter(project=project).order_by("name", "pk").values_list("slug", "name")
    people = User.objects.filter(pk__in=_values(project, "created_by_id", RUNS)).order_by("name", "email")
    return RunOptions(
        rubric=list(rubrics[:MOST_OFFERED]),
        producer=_same(_values(project, "producer_model", RUNS)),
        judge=_same(_values(project, "judge_model", RUNS)),
        person=[(str(user.pk), user.display_name) for user in people],
        task_type=_same(_values(project, "task_type", RUNS)),
        tag=_same(_values(project, "name", TAGS)),
        suite=list(suites[:MOST_OFFERED]),
        experiment=_experiments(project),
    )


def _experiments(project: Project) -> Choices:
    """The newest experiments."""
    rows = Experiment.objects.filter(project=project).order_by("-pk").values_list("pk", "name")
    return [(str(number), f"{number}: {name}") for number, name in rows[:MOST_OFFERED]]


def _values(project: Project, column: str, source: dict[str, str]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(VALUES.format(column=column, **source), [project.pk, project.pk, MOST_OFFERED])
        return [value for (value,) in cursor.fetchall()]


def _same(values: list[Any]) -> Choices:
    return [(str(value), str(value)) for value in values if value]
