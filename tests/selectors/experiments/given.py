"""Experiments with results, written as rows."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from django.utils import timezone

from refinement.models import Configuration, Experiment, ExperimentRun, Project, RubricVersion, SuiteVersion
from refinement.services.suites.editing import suite_create
from tests.models.given import a_version
from tests.services.suites.given import a_task

Scores = Sequence[float | None] | Sequence[Sequence[float | None]]


def a_suite_of(
    project: Project, tasks: int, task_types: Sequence[str] = ("",), name: str = "Answers"
) -> SuiteVersion:
    texts = [a_task(f"task-{at:03}", task_type=task_types[at % len(task_types)]) for at in range(tasks)]
    return suite_create(project=project, name=name, tasks=texts)


def an_experiment(
    suite_version: SuiteVersion,
    scores: Mapping[str, Scores],
    *,
    version: RubricVersion | None = None,
    baseline: str = "A",
    name: str = "Nightly",
    finished: bool = True,
    **fields: object,
) -> Experiment:
    """`scores` has each configuration's first scores by task: a number, or one for each repeat; None is an
    error.

    Half of the checks and criteria are met. `fields` are the configurations'.
    """
    project = suite_version.suite.project
    version = version or a_version(project)
    first = next(iter(scores.values()))[0]
    experiment = Experiment.objects.create(
        project=project,
        suite_version=suite_version,
        name=name,
        status="finished" if finished else "running",
        finished_at=timezone.now() if finished else None,
        repeats=len(first) if isinstance(first, Sequence) else 1,
    )
    tasks = list(suite_version.tasks.order_by("position"))
    rows = []
    for position, (label, by_task) in enumerate(scores.items(), 1):
        configuration = Configuration.objects.create(
            experiment=experiment, position=position, name=label, baseline=label == baseline,
            rubric_version=version, **{**MODELS, **fields},
        )  # fmt: skip
        for task, given in zip(tasks, by_task, strict=True):
            repeats = given if isinstance(given, Sequence) else [given]
            rows += [a_cell(configuration, task, number, score) for number, score in enumerate(repeats, 1)]
    ExperimentRun.objects.bulk_create(rows, batch_size=500)
    return experiment


MODELS = {
    "producer_endpoint": "ollama", "producer_model": "writer:1b",
    "judge_endpoint": "ollama", "judge_model": "judge:8b",
}  # fmt: skip


def a_cell(configuration, task, repeat, score) -> ExperimentRun:
    row = ExperimentRun(
        experiment=configuration.experiment, configuration=configuration, task=task, repeat=repeat,
        order=repeat * 1_000 + task.position, state="error" if score is None else "done",
        criteria_met=3, criteria_total=6, rounds=2, tokens=1_000, seconds=Decimal("2.5"),
    )  # fmt: skip
    if score is not None:
        row.r1 = Decimal(str(score))
        row.best = min(row.r1 + 1, Decimal(10))
        row.passed = row.best >= 9
    return row
