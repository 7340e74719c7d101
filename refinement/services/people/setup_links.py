"""The one-time link that creates the first account."""

import hashlib
import secrets

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db import transaction
from django.db.models import QuerySet

from refinement.models import SetupLink, User

DEMO_DOMAIN = "@demo.example"  # nobody can own an address there


def accounts() -> QuerySet[User]:
    """Every account but the people of demo data, who cannot sign in."""
    return User.objects.exclude(
        email__endswith=DEMO_DOMAIN, password__startswith=UNUSABLE_PASSWORD_PREFIX, is_superuser=False
    )


def setup_link_make() -> str | None:
    """Create a token that replaces any older one. Return None if an account exists."""
    with transaction.atomic():
        SetupLink.objects.all().delete()
        if accounts().exists():
            return None
        token = secrets.token_urlsafe(32)
        SetupLink.objects.create(digest=setup_link_digest(token))
    return token


def setup_link_digest(token: str) -> str:
    """The stored hash of a token."""
    return hashlib.sha256(token.encode()).hexdigest()
