"""Which workers are online."""

from datetime import timedelta

from django.utils import timezone

from refinement.models import WorkerBeat

ALIVE_WITHIN = timedelta(seconds=20)


def workers_alive() -> int:
    """Number of workers with a recent heartbeat."""
    return WorkerBeat.objects.filter(seen_at__gte=timezone.now() - ALIVE_WITHIN).count()
