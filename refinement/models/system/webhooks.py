"""Webhooks, their deliveries and attempts."""

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.leased import Leased, WorkStatus
from refinement.models.people.people import Project
from refinement.models.runs.runs import Run


class WebhookEvent(models.TextChoices):
    RUN_FINISHED = "run.finished", "Run finished"
    RUN_WAITING = "run.waiting", "Run waits for a model server"
    RUN_ASKING = "run.asking", "Run needs a decision"
    REVIEW_ASKED = "review.asked", "Review requested"
    COMMENT_CREATED = "comment.created", "New comment"
    EXPERIMENT_FINISHED = "experiment.finished", "Experiment finished"


PING = "ping"  # the event of a test message


class WebhookFormat(models.TextChoices):
    WIGGUM = "wiggum", "JSON, signed"
    SLACK = "slack", "Slack"
    TEAMS = "teams", "Microsoft Teams"
    DISCORD = "discord", "Discord"


class DeliveryStatus(models.TextChoices):
    QUEUED = "queued", "Queued"
    RUNNING = "running", "Sending"
    WAITING = "waiting", "Retrying"
    DELIVERED = "delivered", "Delivered"
    FAILED = "failed", "Failed"


class Webhook(models.Model):
    """A URL that gets a project's events. It belongs to the project, not to its creator."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    address = models.CharField(max_length=500)
    format = models.CharField(max_length=10, choices=WebhookFormat, default=WebhookFormat.WIGGUM)
    events = models.JSONField(default=list)
    note = models.CharField(max_length=120, blank=True)
    sealed_secret = models.TextField()  # encrypted; shown once
    active = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1)  # to detect concurrent changes
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(
                fields=["project"], condition=models.Q(active=True), name="webhook_active"
            )  # queried for every event
        ]

    def __str__(self) -> str:
        return f"webhook {self.pk} of project {self.project_id}"


class WebhookDelivery(Leased):
    """One event for one webhook. Every attempt sends the same bytes and the same key."""

    Status = DeliveryStatus

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    run = models.ForeignKey(Run, models.CASCADE, null=True, blank=True, related_name="+")
    key = models.UUIDField(default=uuid.uuid4, unique=True)
    event = models.CharField(max_length=20)
    payload = models.TextField()  # the body as it is signed and sent
    created_at = models.DateTimeField(auto_now_add=True)
    status = models.CharField(max_length=10, choices=DeliveryStatus, default=DeliveryStatus.QUEUED)
    tries = models.PositiveIntegerField(default=0)
    most_tries = models.PositiveIntegerField()

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["webhook", "-id"], name="delivery_of_webhook"),
            models.Index(fields=["created_at"], name="delivery_by_age"),
            models.Index(
                fields=["webhook", "status"],
                condition=models.Q(status__in=WorkStatus.values),
                name="delivery_to_send",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} for webhook {self.webhook_id}"


class WebhookAttempt(models.Model):
    """One attempt to send a delivery, and the response."""

    delivery = models.ForeignKey(WebhookDelivery, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    at = models.DateTimeField()
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    milliseconds = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    answer = models.TextField(blank=True)  # the beginning of the response

    class Meta:
        ordering: ClassVar = ["number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["delivery", "number"], name="webhook_attempt_once")
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of delivery {self.delivery_id}"
