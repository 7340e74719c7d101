"""Connections between accounts and sign-in providers."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone


class ExternalIdentity(models.Model):
    """A provider's identifier of a person. It stays the same when their email address changes."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="external_identities")
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="external_identity_unique"),
            # An email address that was reassigned at the provider must not give access to the old account.
            models.UniqueConstraint(fields=["issuer", "user"], name="external_identity_one_a_person"),
        ]

    def __str__(self) -> str:
        return f"{self.user} at {self.issuer}"
