"""Events of a run in order, for pages, the API and webhooks."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.runs.runs import Run


class EventKind(models.TextChoices):
    QUEUED = "queued", "Queued"
    CLAIMED = "claimed", "Taken by a worker"
    DRAFTED = "drafted", "First draft written"
    REVISED = "revised", "Revision written"
    EVALUATING = "evaluating", "Evaluator started"
    EVALUATED = "evaluated", "Evaluator ended"
    REPAIRED = "repaired", "Text repaired"
    COMPOSED = "composed", "Board composed"
    ANSWERED = "answered", "A judge answered"
    DELIBERATED = "deliberated", "A judge deliberated"
    JUDGED = "judged", "Judged"
    DESCRIBED = "described", "Change named"
    ESCALATED = "escalated", "Board took over"
    ASKED = "asked", "Waiting for a decision"
    UNREADABLE = "unreadable", "Judge asked again"
    FAILED = "failed", "Step given up"
    WAITING = "waiting", "Waiting"
    PAUSED = "paused", "Paused"
    RESUMED = "resumed", "Resumed"
    RETRIED = "retried", "Retried"
    EXTENDED = "extended", "More rounds asked for"
    STOPPED = "stopped", "Stopped"
    # Actions of people. Events never contain their scores or texts, only references.
    COMMENTED = "commented", "Comments changed"
    SCORED = "scored", "Scored by a person"
    DECIDED = "decided", "Decided by a person"
    STEERED = "steered", "Instruction given"
    EDITED = "edited", "Edited by hand"
    REVIEWING = "reviewing", "Reviews changed"
    PAUSING = "pausing", "Pause after this round"


class Event(models.Model):
    """Something that happened to a run. Rows are added and never changed."""

    Kind = EventKind

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=20, choices=EventKind)
    at = models.DateTimeField(auto_now_add=True)
    actor = models.CharField(max_length=120)  # a person or a process
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    data = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [models.Index(fields=["run", "id"], name="event_of_run")]

    def __str__(self) -> str:
        return f"{self.kind} of run {self.run_id}"
