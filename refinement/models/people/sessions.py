"""Sessions of a person, as listed on the account page."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone


class SessionInfo(models.Model):
    """A browser's session, with what Django's session does not store: browser, address and last use."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="session_infos")
    session_key = models.CharField(max_length=40, unique=True)
    started_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(default=timezone.now)
    address = models.CharField(max_length=45, blank=True, default="")
    agent = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        ordering: ClassVar = ["-last_used_at", "-id"]

    def __str__(self) -> str:
        return f"session {self.pk} of {self.user}"
