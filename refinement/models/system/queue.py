"""Messages on their way to an actor, where the database itself is the broker."""

from typing import ClassVar

from django.db import models
from django.utils import timezone


class MessageState(models.TextChoices):
    QUEUED = "queued", "Queued"
    CLAIMED = "claimed", "Claimed"
    DEAD = "dead", "Dead"


class QueuedMessage(models.Model):
    """One message; it is deleted when it is done, and kept for a while when it failed for good."""

    State = MessageState

    queue = models.CharField(max_length=100)
    message_id = models.CharField(max_length=64)  # a retry keeps its id while the first try is acknowledged
    body = models.TextField()
    priority = models.IntegerField(default=0)  # smaller comes first
    eta = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=10, choices=MessageState, default=MessageState.QUEUED)
    lease_owner = models.CharField(max_length=64, default="", blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    requeues = models.PositiveIntegerField(default=0)  # how often a consumer was lost with it
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        # Whole indexes: SQLite does not use a partial one for a condition that comes as a parameter.
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
