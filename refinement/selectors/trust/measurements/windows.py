"""How many judgements of a measurement run at the same time."""

from refinement.models import BenchTrial, Measurement
from refinement.models.leased import WorkStatus
from refinement.selectors.endpoints import NoSuchEndpoint, endpoint_spec
from refinement.selectors.experiments.windows import LEAST, SPARE, WITHOUT_WORKERS, threads_online
from refinement.selectors.trust.measurements.reuse import targets_of


def window_of(measurement: Measurement) -> int:
    """As many as workers have threads, or as its endpoints take calls, if that is less."""
    threads = threads_online() or WITHOUT_WORKERS
    limit = calls_at_once(measurement)
    return max(LEAST, threads if limit is None else min(threads, limit + SPARE))


def calls_at_once(measurement: Measurement) -> int | None:
    """How many calls its endpoints take together; None if one of them has no limit."""
    total = 0
    for endpoint in {target.endpoint for target in targets_of(measurement)}:
        try:
            limit = endpoint_spec(endpoint).concurrency
        except NoSuchEndpoint:
            continue
        if limit is None:
            return None
        total += limit
    return total or None


def trials_under_way(measurement: Measurement) -> int:
    """Judgements that need a worker."""
    trials = BenchTrial.objects.filter(bench__measured__measurement=measurement)
    return trials.filter(status__in=WorkStatus.values).count()
