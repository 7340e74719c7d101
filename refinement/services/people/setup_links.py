"""The one-time link with which the first person makes their account."""

import hashlib
import secrets

from django.db import transaction

from refinement.models import SetupLink, User


def setup_link_make() -> str | None:
    """A fresh token that replaces any older one; None when somebody has an account already."""
    with transaction.atomic():
        SetupLink.objects.all().delete()
        if User.objects.exists():
            return None
        token = secrets.token_urlsafe(32)
        SetupLink.objects.create(digest=setup_link_digest(token))
    return token


def setup_link_digest(token: str) -> str:
    """What is kept of a token: enough to know it again, not enough to use it."""
    return hashlib.sha256(token.encode()).hexdigest()
