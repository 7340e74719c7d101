"""Of which experiment a run is a part."""

from refinement.models import ExperimentRun, Run

TEXTS = (
    *(f"task__{name}" for name in ("task", "seed", "sources", "checks", "expected")),
    *(f"configuration__{name}" for name in ("sources", "changes")),
    "experiment__note",
)


def part_of(run: Run) -> ExperimentRun | None:
    """The run's place in its experiment, with task and configuration but without their texts.

    None for a run of its own, which costs no query.
    """
    if run.experiment_id is None:
        return None
    rows = ExperimentRun.objects.select_related("experiment", "task", "configuration").defer(*TEXTS)
    return rows.filter(run=run).first()
