"""Secrets that must be read again are stored encrypted under SECRET_KEY, each purpose with a key of its own.

Old keys in SECRET_KEY_FALLBACKS still decrypt; new secrets are always encrypted with SECRET_KEY itself.
"""

import base64
import hashlib
from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class Unreadable(Exception):
    """It was encrypted with a key that is neither SECRET_KEY nor one of the fallbacks."""


def sealed(purpose: str, text: str) -> str:
    """The text, encrypted for storage."""
    return _vault(purpose, known_keys()).encrypt(text.encode()).decode()


def unsealed(purpose: str, kept: str) -> str:
    """The text again; raises Unreadable."""
    return _decrypted(_vault(purpose, known_keys()), kept).decode()


def resealed(purpose: str, kept: str, keys: Sequence[str]) -> str:
    """The same secret under the first of these keys: unchanged if it is already; raises Unreadable."""
    try:
        _decrypted(_vault(purpose, keys[:1]), kept)
    except Unreadable:
        vault = _vault(purpose, keys)
        return vault.encrypt(_decrypted(vault, kept)).decode()
    return kept


def known_keys() -> list[str]:
    return [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]


def _decrypted(vault: MultiFernet, kept: str) -> bytes:
    try:
        return vault.decrypt(kept.encode())
    except InvalidToken:
        raise Unreadable from None


def _vault(purpose: str, secrets: Sequence[str]) -> MultiFernet:
    digests = [hashlib.sha256(f"wiggum {purpose} ".encode() + secret.encode()).digest() for secret in secrets]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
