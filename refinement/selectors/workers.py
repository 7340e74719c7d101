"""Which workers are online."""

from datetime import timedelta

from django.utils import timezone

from refinement.models import WorkerBeat

ALIVE_WITHIN = timedelta(seconds=20)


def workers_alive() -> int:
    """How many workers have been heard of lately."""
    return WorkerBeat.objects.filter(seen_at__gte=timezone.now() - ALIVE_WITHIN).count()
