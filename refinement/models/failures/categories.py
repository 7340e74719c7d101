"""Failure categories: groups of alike issues of judges, which people can name, merge, split and annotate.

A worker reads runs after they end (`FailureReading`), places their issues, and makes new categories. It never
changes what a person changed, and never moves an issue that has a category. See `execution/failures/`.
"""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.people.people import Project
from refinement.models.runs.runs import Run

NAME_CHARS = 120
NOTE_CHARS = 4_000
EXCERPT_CHARS = 400
CRITERION_CHARS = 60


class FailureCategory(models.Model):
    """Alike issues about one criterion.

    A merged category keeps its issues and says which one they count for, so merging can be undone, and later
    issues that are like it count for the other one, too.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="failure_categories")
    criterion = models.CharField(max_length=CRITERION_CHARS, blank=True)  # its key; empty if unknown
    automatic_name = models.CharField(max_length=NAME_CHARS)
    model_name = models.CharField(max_length=NAME_CHARS, blank=True)  # by a clerk model
    name = models.CharField(max_length=NAME_CHARS, blank=True)  # by a person; wins
    note = models.TextField(blank=True)  # what to do about it
    note_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    note_at = models.DateTimeField(null=True, blank=True)
    pinned = models.BooleanField(default=False)
    dismissed = models.BooleanField(default=False)  # people do not see it as an issue; figures leave it out
    merged_into = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="merged")
    by_hand = models.BooleanField(default=False)  # made by a person, by splitting another
    edition = models.PositiveIntegerField(default=1)  # rises with each change by a person
    created_at = models.DateTimeField(auto_now_add=True)
    examples = models.JSONField(default=list)  # texts that later issues are compared with

    worded = ""  # not stored: instead of an automatic name whose words the reader must not see

    class Meta:
        ordering: ClassVar = ["id"]
        verbose_name_plural = "failure categories"
        indexes: ClassVar = [models.Index(fields=["project", "criterion"], name="failure_category_criterion")]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=~models.Q(merged_into=models.F("id")), name="failure_category_not_in_itself"
            ),
        ]

    def __str__(self) -> str:
        return self.shown_name

    @property
    def shown_name(self) -> str:
        return self.name or self.usual_name

    @property
    def usual_name(self) -> str:
        """Without a name by a person."""
        return self.worded or self.model_name or self.automatic_name


class IssueKind(models.TextChoices):
    ISSUE = "issue", "Issue"
    IMPROVEMENT = "improvement", "Improvement"  # of a criterion, where the judge named no issue


class FailureIssue(models.Model):
    """An issue of a round's verdict, with its category; none if it fits nowhere."""

    Kind = IssueKind

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="failure_issues")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="failure_issues")
    round_number = models.PositiveIntegerField()
    kind = models.CharField(max_length=12, choices=IssueKind, default=IssueKind.ISSUE)
    position = models.PositiveIntegerField()  # in the verdict, from 0
    category = models.ForeignKey(
        FailureCategory, models.SET_NULL, null=True, blank=True, related_name="issues"
    )
    by_hand = models.BooleanField(default=False)  # a person chose the category, or that none fits
    criterion = models.CharField(max_length=CRITERION_CHARS, blank=True)
    guessed = models.BooleanField(default=False)  # the issue does not name or describe the criterion
    score = models.FloatField(null=True, blank=True)  # the criterion's in that round, from 0 to 10
    next_round = models.PositiveIntegerField(null=True, blank=True)  # the one judged after this feedback
    again = models.BooleanField(default=False)  # the next round has an issue in nearly the same words
    closeness = models.FloatField(default=0)  # how typical it is of its category
    excerpt = models.CharField(max_length=EXCERPT_CHARS)

    class Meta:
        ordering: ClassVar = ["-run_id", "round_number", "kind", "position"]
        indexes: ClassVar = [
            models.Index(fields=["category", "-run", "round_number"], name="failure_issue_category"),
            models.Index(
                fields=["project", "-run"],
                name="failure_issue_unplaced",
                condition=models.Q(category__isnull=True),
            ),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "round_number", "kind", "position"], name="failure_issue_unique"
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=IssueKind.values), name="failure_issue_kind_known"
            ),
        ]

    def __str__(self) -> str:
        return self.excerpt[:60]


class FailureReading(models.Model):
    """That a run's issues have been read; again if it has ended another time since."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="+")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    finished_at = models.DateTimeField()  # the run's

    def __str__(self) -> str:
        return f"issues of run {self.pk}"


class FailureSuggestion(models.Model):
    """Two categories that may be one. `first` and `second` are in the order of their keys."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="failure_suggestions")
    first = models.ForeignKey(FailureCategory, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(FailureCategory, on_delete=models.CASCADE, related_name="+")
    likeness = models.FloatField()
    dismissed = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar = ["-likeness", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["first", "second"], name="failure_suggestion_unique"),
            models.CheckConstraint(
                condition=models.Q(first__lt=models.F("second")), name="failure_suggestion_in_order"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.first_id} and {self.second_id}"


class FailureNaming(models.Model):
    """A request that a clerk model names a project's categories, and how it ended. The newest one counts."""

    project = models.OneToOneField(
        Project, on_delete=models.CASCADE, primary_key=True, related_name="failure_naming"
    )
    endpoint = models.CharField(max_length=400)
    model = models.CharField(max_length=200)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    asked_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    named = models.PositiveIntegerField(default=0)
    problem = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"naming by {self.model}"
