"""Which person a sign-in provider means."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone


class ExternalIdentity(models.Model):
    """A provider's name for a person: it stays the same when their mail address changes."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="external_identities")
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="external_identity_unique"),
            # Whoever got a mail address from somebody else at the provider does not get their account here.
            models.UniqueConstraint(fields=["issuer", "user"], name="external_identity_one_a_person"),
        ]

    def __str__(self) -> str:
        return f"{self.user} at {self.issuer}"
