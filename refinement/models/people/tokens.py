"""API tokens and idempotency keys."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from refinement.models.people.people import MemberRole, Project


class ApiToken(models.Model):
    """Acts as its creator, with at most this role. It is shown once; only its digest is stored."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=60)
    role = models.CharField(max_length=10, choices=MemberRole)
    digest = models.CharField(max_length=64, unique=True)
    prefix = models.CharField(max_length=12)  # to tell tokens apart in a list
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    # The current minute since 1970, and the requests in it.
    counted_minute = models.PositiveBigIntegerField(default=0)
    counted = models.PositiveIntegerField(default=0)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [models.Index(fields=["project", "-id"], name="api_token_of_project")]
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(role__in=MemberRole.values), name="api_token_role_known"
            )
        ]

    def __str__(self) -> str:
        return f"token {self.prefix}… of {self.project}"

    @property
    def state(self) -> str:
        """`revoked`, `expired` or `open`."""
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at and self.expires_at <= timezone.now() else "open"


class IdempotencyKey(models.Model):
    """A creating request with the client's key, and its response once there is one."""

    sender = models.CharField(max_length=40)  # such as token:12 or person:3
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)  # of method, address and body
    attempt = models.PositiveIntegerField(default=1)  # fences off a process that lost its claim
    taken_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    headers = models.JSONField(default=dict, blank=True)
    body = models.TextField(blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["sender", "key"], name="idempotency_key_unique")
        ]
        indexes: ClassVar = [models.Index(fields=["created_at"], name="idempotency_key_oldest")]

    def __str__(self) -> str:
        return f"key {self.key[:20]} of {self.sender}"
