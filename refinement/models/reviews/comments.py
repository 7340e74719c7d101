"""Comment threads, each on one place of a run."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.people.people import Project
from refinement.models.runs.runs import Run


class ThreadPlace(models.TextChoices):
    RUN = "run", "The run"
    ROUND = "round", "A round"
    CRITERION = "criterion", "A criterion's score"
    ISSUE = "issue", "An issue"
    ASI = "asi", "The suggested change"
    PASSAGE = "passage", "A passage"


class Thread(models.Model):
    """A discussion of one place in a run. A passage is located by its quotation, not by its position."""

    Place = ThreadPlace

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="threads")  # the run's
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="threads")
    place = models.CharField(max_length=10, choices=ThreadPlace)
    round_number = models.PositiveIntegerField(null=True, blank=True)
    key = models.CharField(max_length=60, blank=True)  # the criterion's
    position = models.PositiveIntegerField(null=True, blank=True)  # of the issue in its list, from 0
    # The selected text and some of its context, to tell equal passages apart.
    quote = models.TextField(blank=True)
    quote_before = models.CharField(max_length=64, blank=True)
    quote_after = models.CharField(max_length=64, blank=True)
    quote_start = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [models.Index(fields=["run", "id"], name="thread_of_run")]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(place=ThreadPlace.RUN, round_number__isnull=True)
                | (~models.Q(place=ThreadPlace.RUN) & models.Q(round_number__isnull=False)),
                name="thread_place_has_round",
            ),
            models.CheckConstraint(
                condition=~models.Q(place=ThreadPlace.PASSAGE)
                | (~models.Q(quote="") & models.Q(quote_start__isnull=False)),
                name="thread_passage_is_quoted",
            ),
            models.CheckConstraint(
                condition=~models.Q(place=ThreadPlace.CRITERION) | ~models.Q(key=""),
                name="thread_criterion_has_key",
            ),
            models.CheckConstraint(
                condition=~models.Q(place=ThreadPlace.ISSUE) | models.Q(position__isnull=False),
                name="thread_issue_has_position",
            ),
        ]

    def __str__(self) -> str:
        return f"thread {self.pk} on run {self.run_id}"

    @property
    def is_resolved(self) -> bool:
        return self.resolved_at is not None


class Comment(models.Model):
    """A comment in Markdown. A deleted comment keeps its row and history."""

    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="comments")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="comments")  # the thread's
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="comments"
    )
    author_name = models.CharField(max_length=120)  # stays when the account is deleted
    body = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    edited_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=1)  # to detect concurrent edits
    mentioned = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="mentions", blank=True)

    class Meta:
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [models.Index(fields=["run", "id"], name="comment_of_run")]

    def __str__(self) -> str:
        return f"comment {self.pk} by {self.author_name}"


class CommentEdit(models.Model):
    """The text of a comment before an edit or its deletion."""

    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="edits")
    version = models.PositiveIntegerField()
    body = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["version"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["comment", "version"], name="comment_edit_unique")
        ]

    def __str__(self) -> str:
        return f"version {self.version} of comment {self.comment_id}"
