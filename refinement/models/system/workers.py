"""Heartbeats of worker processes."""

from django.db import models


class WorkerBeat(models.Model):
    """A worker's heartbeat, renewed every few seconds and deleted on a clean exit."""

    name = models.CharField(max_length=200, unique=True)  # host:pid:random
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField(db_index=True)
    threads = models.PositiveIntegerField()
    version = models.CharField(max_length=40)

    def __str__(self) -> str:
        return self.name
