"""Encrypts stored secrets with keys derived from SECRET_KEY, one for each purpose.

SECRET_KEY_FALLBACKS can still decrypt. New secrets are always encrypted with SECRET_KEY.
"""

import base64
import hashlib
from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class Unreadable(Exception):
    """The secret was encrypted with an unknown key."""


def sealed(purpose: str, text: str) -> str:
    """The encrypted text."""
    return _vault(purpose, known_keys()).encrypt(text.encode()).decode()


def unsealed(purpose: str, encrypted: str) -> str:
    """The decrypted text. Raises Unreadable."""
    return _decrypted(_vault(purpose, known_keys()), encrypted).decode()


def resealed(purpose: str, encrypted: str, keys: Sequence[str]) -> str:
    """The secret encrypted with the first key, unchanged if it already is. Raises Unreadable."""
    try:
        _decrypted(_vault(purpose, keys[:1]), encrypted)
    except Unreadable:
        vault = _vault(purpose, keys)
        return vault.encrypt(_decrypted(vault, encrypted)).decode()
    return encrypted


def known_keys() -> list[str]:
    return [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]


def _decrypted(vault: MultiFernet, encrypted: str) -> bytes:
    try:
        return vault.decrypt(encrypted.encode())
    except InvalidToken:
        raise Unreadable from None


def _vault(purpose: str, secrets: Sequence[str]) -> MultiFernet:
    digests = [hashlib.sha256(f"wiggum {purpose} ".encode() + secret.encode()).digest() for secret in secrets]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
