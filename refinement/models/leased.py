"""The base of work that one worker at a time executes: runs, bench trials, webhook deliveries."""

from typing import ClassVar, Self

from django.db import models


class WorkStatus(models.TextChoices):
    """The statuses of unfinished work. Every leased model has these, and more."""

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    WAITING = "waiting", "Waiting"


class Leased(models.Model):
    """A row that workers take by a lease; `execution/leases.py` has the functions.

    A subclass gives `status` more choices than those of WorkStatus. `attempt` is the fence: it rises with
    every claim, and every write names it, so a worker that lost its lease cannot write.
    """

    objects: "ClassVar[models.Manager[Self]]" = models.Manager()
    status = models.CharField(max_length=10, choices=WorkStatus, default=WorkStatus.QUEUED)

    started_at = models.DateTimeField(null=True, blank=True)
    lease_owner = models.CharField(max_length=120, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    attempt = models.PositiveIntegerField(default=0)
    crashes = models.PositiveSmallIntegerField(default=0)  # workers lost during the current step
    next_try_at = models.DateTimeField(null=True, blank=True)
    waiting_endpoint = models.CharField(max_length=400, blank=True)
    calling = models.JSONField(default=dict, blank=True)  # slots in use while the lease holds, by endpoint
    # When a message was last sent for this row, and how many were sent since it was last claimed.
    woken_at = models.DateTimeField(null=True, blank=True)
    wakes = models.PositiveSmallIntegerField(default=0)
    waiting_for = models.TextField(blank=True)

    class Meta:
        abstract = True
