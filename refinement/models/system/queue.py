"""Queued messages, when the database is the broker."""

from typing import ClassVar

from django.db import models
from django.utils import timezone


class MessageState(models.TextChoices):
    QUEUED = "queued", "Queued"
    CLAIMED = "claimed", "Claimed"
    DEAD = "dead", "Dead"


class QueuedMessage(models.Model):
    """A queued message. Deleted when it is done; kept for a while as a dead letter when it has failed."""

    State = MessageState

    queue = models.CharField(max_length=100)
    message_id = models.CharField(max_length=64)  # not unique: a retry keeps its id
    body = models.TextField()
    priority = models.IntegerField(default=0)  # smaller comes first
    eta = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=10, choices=MessageState, default=MessageState.QUEUED)
    lease_owner = models.CharField(max_length=64, default="", blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    requeues = models.PositiveIntegerField(default=0)  # how often its consumer was lost
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        # Not partial: SQLite does not use partial indexes for parameterized conditions.
        indexes: ClassVar = [
            models.Index(fields=["queue", "state", "priority", "eta", "id"], name="message_claim"),
            models.Index(fields=["state", "lease_until"], name="message_lease"),
            models.Index(fields=["state", "updated_at"], name="message_dead"),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(state__in=MessageState.values), name="message_state_known"
            )
        ]

    def __str__(self) -> str:
        return f"{self.message_id} on {self.queue} ({self.state})"
