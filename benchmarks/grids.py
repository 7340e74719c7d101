"""Checks that the grid of every experiment is right: no run lost or doubled, every cell as its run ended."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

from refinement.models import CellState, Experiment, ExperimentRun, ExperimentStatus, Run
from refinement.services.experiments.cells import cell_values

ENDED = (CellState.DONE, CellState.UNSCORED, CellState.ERROR, CellState.CANCELLED)


def grid_problems() -> Iterator[str]:
    """One sentence for each problem in an experiment that should have ended."""
    for experiment in Experiment.objects.order_by("pk"):
        for problem in problems_of(experiment):
            yield f"experiment {experiment.pk}: {problem}"


def problems_of(experiment: Experiment) -> Iterator[str]:
    if experiment.status != ExperimentStatus.FINISHED:
        yield f"is {experiment.status} {experiment.status_reason}"
    cells = list(ExperimentRun.objects.filter(experiment=experiment).select_related("run"))
    yield from size_problems(experiment, [cell for cell in cells if not cell.replaced])
    for cell in cells:
        yield from cell_problems(cell)
    known = {cell.run_id for cell in cells}
    lost = set(Run.objects.filter(experiment=experiment).values_list("pk", flat=True)) - known
    if lost:
        yield f"has runs without a cell: {sorted(lost)}"


def size_problems(experiment: Experiment, cells: list[ExperimentRun]) -> Iterator[str]:
    wanted = experiment.suite_version.tasks.count() * experiment.configurations.count() * experiment.repeats
    if len(cells) != wanted:
        yield f"has {len(cells)} cells, not {wanted}"
    places = Counter((cell.task_id, cell.configuration_id, cell.repeat) for cell in cells)
    if doubled := [place for place, count in places.items() if count > 1]:
        yield f"has doubled cells: {doubled}"


def cell_problems(cell: ExperimentRun) -> Iterator[str]:
    if cell.state not in ENDED:
        yield f"cell {cell.pk} is {cell.state}"
    elif cell.run is None:
        yield f"cell {cell.pk} has no run: {cell.problem}"
    elif not cell.run.is_finished:
        yield f"cell {cell.pk} has ended, its run has not"
    else:
        for name, value in cell_values(cell.run).items():
            if differs(getattr(cell, name), value):
                yield f"cell {cell.pk} has {name} {getattr(cell, name)}, its run {value}"


def differs(stored: object, value: object) -> bool:
    """A cell's score is computed from the exact one, its run's is rounded to six digits."""
    if isinstance(stored, Decimal) and isinstance(value, Decimal):
        return abs(stored - value) > Decimal("0.0001")
    return stored != value
