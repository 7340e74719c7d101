"""How many runs of an experiment run at the same time."""

from django.db.models import Sum
from django.utils import timezone

from refinement.models import Experiment, WorkerBeat
from refinement.selectors.endpoints import NoSuchEndpoint, endpoint_spec
from refinement.selectors.workers import ALIVE_WITHIN

LEAST = 2
WITHOUT_WORKERS = 8  # so that a worker that starts has something to do at once
SPARE = 2  # more runs than a limited endpoint has slots: they wait for its next free one


def window_of(experiment: Experiment) -> int:
    """As many as workers have threads, or as its endpoints take calls, if that is less."""
    threads = threads_online() or WITHOUT_WORKERS
    limit = calls_at_once(experiment)
    return max(LEAST, threads if limit is None else min(threads, limit + SPARE))


def threads_online() -> int:
    """The threads of all workers with a recent heartbeat."""
    alive = WorkerBeat.objects.filter(seen_at__gte=timezone.now() - ALIVE_WITHIN)
    return alive.aggregate(sum=Sum("threads"))["sum"] or 0


def calls_at_once(experiment: Experiment) -> int | None:
    """How many calls the experiment's endpoints take together; None if one of them has no limit."""
    total = 0
    for endpoint in endpoints_of(experiment):
        try:
            limit = endpoint_spec(endpoint).concurrency
        except NoSuchEndpoint:
            continue
        if limit is None:
            return None
        total += limit
    return total or None


def endpoints_of(experiment: Experiment) -> set[str]:
    """The endpoints of producers and judges; panels and clerks come from the rubric."""
    named = experiment.configurations.values_list("producer_endpoint", "judge_endpoint")
    return {endpoint for pair in named for endpoint in pair}
