"""Heartbeats of worker processes."""

import os
import secrets
import socket
from datetime import datetime, timedelta

from django.utils import timezone

from refinement.models import WorkerBeat
from wiggum_site import VERSION

BEAT_SECONDS = 5.0
FORGOTTEN_AFTER = timedelta(minutes=1)


def worker_name() -> str:
    """A unique name for this worker process."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


def worker_beat(*, name: str, started_at: datetime, threads: int) -> None:
    """Records that the worker is alive, and deletes workers without a heartbeat for a minute."""
    now = timezone.now()
    WorkerBeat.objects.update_or_create(
        name=name,
        defaults={"seen_at": now},
        create_defaults={"started_at": started_at, "seen_at": now, "threads": threads, "version": VERSION},
    )
    WorkerBeat.objects.filter(seen_at__lt=now - FORGOTTEN_AFTER).delete()


def worker_leave(*, name: str) -> None:
    """Deletes a worker that shuts down normally."""
    WorkerBeat.objects.filter(name=name).delete()
