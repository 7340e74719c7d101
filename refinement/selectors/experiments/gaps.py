"""Why runs of an experiment have no score: the same reason once, with how many it concerns."""

from dataclasses import dataclass

from django.db.models import Count, Max

from refinement.models import CellState, Experiment, ExperimentRun

FAILED = (CellState.ERROR, CellState.UNSCORED)
MOST_FAILURES = 4


@dataclass(frozen=True, slots=True)
class Failure:
    """A reason with the newest run that it ended."""

    count: int
    example: ExperimentRun

    @property
    def state(self) -> str:
        return CellState(self.example.state).label.lower()

    @property
    def problem(self) -> str:
        return self.example.problem


def failures_of(experiment: Experiment) -> tuple[Failure, ...]:
    """The most frequent reasons. Two queries."""
    rows = ExperimentRun.objects.filter(experiment=experiment, replaced=False, state__in=FAILED).order_by()
    groups = rows.values_list("state", "problem").annotate(count=Count("pk"), newest=Max("pk"))
    common = list(groups.order_by("-count", "-newest")[:MOST_FAILURES])
    lean = ExperimentRun.objects.select_related("task", "configuration")
    lean = lean.defer("task__task", "task__seed", "task__sources")
    examples = lean.in_bulk([newest for *_, newest in common])
    return tuple(Failure(count, examples[newest]) for _, _, count, newest in common if newest in examples)
