"""Notices in a person's inbox, and which kinds they want."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.people.people import Project
from refinement.models.reviews.comments import Comment
from refinement.models.runs.runs import Run
from refinement.models.suites.experiments import Experiment


class NoticeKind(models.TextChoices):
    MENTION = "mention", "Someone mentions you"
    REPLY = "reply", "Someone replies in your thread"
    REVIEW = "review", "Your review is requested"
    RUN_ENDED = "run_ended", "Your run finishes"
    RUN_WAITS = "run_waits", "Your run waits for a model server"
    RUN_ASKS = "run_asks", "Your run needs a decision"
    DECISION = "decision", "Someone decides on your run"
    EXPERIMENT = "experiment", "Your experiment finishes or pauses itself"


class Notice(models.Model):
    """A notification for one person."""

    Kind = NoticeKind

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    # What it is about: a run or an experiment.
    run = models.ForeignKey(Run, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    experiment = models.ForeignKey(
        Experiment, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    kind = models.CharField(max_length=10, choices=NoticeKind)
    actor_name = models.CharField(max_length=120, blank=True)
    text = models.TextField()  # plain text, also used in the email
    created_at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True, blank=True)
    inbox = models.BooleanField(default=True)  # False: sent by email only
    mail_due = models.BooleanField(default=False)  # to be sent by email
    mail_after = models.DateTimeField(null=True, blank=True)  # retry time after a failure
    mail_tries = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["user", "-id"], name="notice_newest"),
            models.Index(fields=["user"], condition=models.Q(read_at__isnull=True), name="notice_unread"),
            models.Index(fields=["id"], condition=models.Q(mail_due=True), name="notice_to_mail"),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(run__isnull=False, experiment__isnull=True)
                | models.Q(run__isnull=True, experiment__isnull=False),
                name="notice_about_one_thing",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} for {self.user_id}"


class NoticeChoice(models.Model):
    """How a person gets one kind of notice. Without a row: in the inbox and by email."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notice_choices"
    )
    kind = models.CharField(max_length=10, choices=NoticeKind)
    inbox = models.BooleanField(default=True)
    mail = models.BooleanField(default=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "kind"], name="notice_choice_unique")
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.user_id}"
