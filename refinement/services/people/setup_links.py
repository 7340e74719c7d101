"""The one-time link that creates the first account."""

import hashlib
import secrets

from django.db import transaction

from refinement.models import SetupLink, User


def setup_link_make() -> str | None:
    """Create a token that replaces any older one. Return None if an account exists."""
    with transaction.atomic():
        SetupLink.objects.all().delete()
        if User.objects.exists():
            return None
        token = secrets.token_urlsafe(32)
        SetupLink.objects.create(digest=setup_link_digest(token))
    return token


def setup_link_digest(token: str) -> str:
    """The stored hash of a token."""
    return hashlib.sha256(token.encode()).hexdigest()
