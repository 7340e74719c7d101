"""Links that show one run, read-only, to people without an account."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from refinement.models.people.people import Project
from refinement.models.runs.runs import Run


class ShareLink(models.Model):
    """A share link. It is shown once; only its token's digest is stored."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="share_links")  # the run's
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="share_links")
    digest = models.CharField(max_length=64, unique=True)
    prefix = models.CharField(max_length=8)  # to tell links apart in a list
    note = models.CharField(max_length=120, blank=True)
    show_prompts = models.BooleanField(default=False)
    show_comments = models.BooleanField(default=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    opened = models.PositiveIntegerField(default=0)
    last_opened_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["run", "-id"], name="share_link_of_run"),
            models.Index(fields=["project", "-id"], name="share_link_of_project"),
        ]

    def __str__(self) -> str:
        return f"share link {self.prefix}… of run {self.run_id}"

    @property
    def state(self) -> str:
        """`revoked`, `expired` or `open`."""
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at <= timezone.now() else "open"
