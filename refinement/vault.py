"""Secrets that must be read again are kept encrypted under SECRET_KEY, each purpose with a key of its own."""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings


class Unreadable(Exception):
    """It was kept under another SECRET_KEY."""


def sealed(purpose: str, text: str) -> str:
    """The text as it may be kept."""
    return _vault(purpose).encrypt(text.encode()).decode()


def unsealed(purpose: str, kept: str) -> str:
    """The text again; raises Unreadable."""
    try:
        return _vault(purpose).decrypt(kept.encode()).decode()
    except InvalidToken:
        raise Unreadable from None


def _vault(purpose: str) -> Fernet:
    key = hashlib.sha256(f"wiggum {purpose} ".encode() + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))
