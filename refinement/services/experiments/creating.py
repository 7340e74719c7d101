"""Create experiments: a suite version under several configurations, with repeats."""

from collections.abc import Iterator, Sequence

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import transaction

from refinement.models import Configuration, Experiment, ExperimentRun, Project, SuiteTask, SuiteVersion, User
from refinement.selectors.projects.budgets import budget_of
from refinement.services.audit import audit_record
from refinement.services.experiments.checking import (
    MOST_CONFIGURATIONS,
    CheckedConfiguration,
    ConfigurationSpec,
    budget_cleaned,
    configurations_check,
    name_cleaned,
    size_check,
)
from refinement.services.experiments.waking import experiment_wake
from refinement.texts import storable

__all__ = ["ConfigurationSpec", "experiment_create"]

ORDER_STRIDE = 32  # per task and repeat: more than MOST_CONFIGURATIONS, so that one can be added later
BATCH = 1_000
MOST_NOTE_CHARS = 4_000
assert ORDER_STRIDE > MOST_CONFIGURATIONS


def experiment_create(
    *,
    project: Project,
    user: User | None,
    suite_version: SuiteVersion,
    name: str,
    configurations: Sequence[ConfigurationSpec],
    repeats: int = 1,
    token_budget: int | None = None,
    note: str = "",
) -> Experiment:
    """Create an experiment; workers start its runs. Without a baseline, the first configuration is it.

    May ask model servers for their context lengths: not in a transaction. Raises ValidationError.
    """
    if suite_version.suite.project_id != project.pk:
        raise ValidationError({"suite": "This suite belongs to another project."})
    if suite_version.suite.archived_at is not None:
        raise ValidationError({"suite": "This suite is archived. Unarchive it or choose another."})
    tasks = list(suite_version.tasks.order_by("position"))
    size_check(tasks=len(tasks), configurations=len(configurations), repeats=repeats)
    checked = configurations_check(project, configurations, tasks)
    if refusal := budget_of(project).refusal:
        raise ValidationError({NON_FIELD_ERRORS: refusal})
    experiment = Experiment(
        project=project,
        suite_version=suite_version,
        name=name_cleaned(name),
        note=storable(note).strip()[:MOST_NOTE_CHARS],
        created_by=user,
        repeats=repeats,
        token_budget=budget_cleaned(token_budget),
    )
    return experiment_store(experiment, checked, tasks)


@transaction.atomic
def experiment_store(
    experiment: Experiment, checked: Sequence[CheckedConfiguration], tasks: Sequence[SuiteTask]
) -> Experiment:
    """Save a checked experiment with its cells, and wake a worker."""
    experiment.save(force_insert=True)
    baseline = next((number for number, entry in enumerate(checked) if entry.spec.baseline), 0)
    for position, entry in enumerate(checked):
        row = configuration_row(experiment, entry, position + 1, baseline=position == baseline)
        row.save(force_insert=True)
        cells_create(row, tasks, experiment.repeats, among=len(checked))
    audit_record(
        action="experiment.create",
        object_type="experiment",
        object_id=experiment.pk,
        project=experiment.project,
        user=experiment.created_by,
        after={
            "name": experiment.name,
            "suite": str(experiment.suite_version),
            "configurations": [entry.name for entry in checked],
            "repeats": experiment.repeats,
            "token_budget": experiment.token_budget,
        },
    )
    experiment_wake(experiment.pk)
    return experiment


def configuration_row(
    experiment: Experiment, entry: CheckedConfiguration, position: int, *, baseline: bool
) -> Configuration:
    spec = entry.spec
    return Configuration(
        experiment=experiment,
        position=position,
        name=entry.name,
        baseline=baseline,
        rubric_version=spec.version,
        changes=entry.changes,
        sources=[{"name": source.name, "text": source.text} for source in entry.sources],
        producer_endpoint=spec.producer.endpoint,
        producer_model=spec.producer.model,
        judge_endpoint=spec.judge.endpoint,
        judge_model=spec.judge.model,
        clerk_endpoint=spec.clerk.endpoint if spec.clerk else "",
        clerk_model=spec.clerk.model if spec.clerk else "",
    )


def cells_create(
    configuration: Configuration, tasks: Sequence[SuiteTask], repeats: int, *, among: int
) -> None:
    """Create the configuration's cells: not started yet. `among` is how many configurations take turns."""
    cells = cells_of(configuration, tasks, repeats, among)
    ExperimentRun.objects.bulk_create(cells, batch_size=BATCH)


def cells_of(
    configuration: Configuration, tasks: Sequence[SuiteTask], repeats: int, among: int
) -> Iterator[ExperimentRun]:
    """Cells in the order in which their runs start.

    All configurations of a task are next to each other, so that a half-finished experiment compares them on
    the same tasks. Which one is first rotates, so that none always has the advantage of an idle server.
    """
    for repeat in range(repeats):
        for number, task in enumerate(tasks):
            turn = (configuration.position - 1 + number) % among
            yield ExperimentRun(
                experiment_id=configuration.experiment_id,
                configuration=configuration,
                task=task,
                repeat=repeat + 1,
                order=(repeat * len(tasks) + number) * ORDER_STRIDE + turn,
            )
