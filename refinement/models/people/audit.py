"""The audit log: who changed what, and when."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from refinement.models.people.people import Project


class AuditEntry(models.Model):
    """One change by a person or the command line. Database triggers prevent updates and deletion."""

    at = models.DateTimeField(auto_now_add=True)
    project = models.ForeignKey(Project, models.SET_NULL, null=True, blank=True, related_name="audit_entries")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True)
    actor = models.CharField(max_length=120)
    address = models.CharField(max_length=45, blank=True, default="")  # where the request came from
    action = models.CharField(max_length=60)  # noun.verb, such as run.cancel
    object_type = models.CharField(max_length=40)
    object_id = models.CharField(max_length=40)
    before = models.JSONField(default=dict, blank=True)
    after = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [
            models.Index(fields=["project", "-id"], name="audit_of_project"),
            models.Index(fields=["project", "user", "-id"], name="audit_of_person"),
            models.Index(fields=["project", "action", "-id"], name="audit_of_action"),
            models.Index(fields=["object_type", "object_id"], name="audit_of_object"),
        ]

    def __str__(self) -> str:
        return f"{self.action} of {self.object_type} {self.object_id}"
