"""Compares texts regardless of line endings."""

import hashlib


def plain_lines(text: str) -> str:
    """The text with `\\n` line endings. Browsers submit forms with `\\r\\n`."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def fingerprint(text: str) -> str:
    """A hash of the text that ignores line endings and surrounding whitespace."""
    return hashlib.sha256(plain_lines(text).strip().encode("utf-8", "replace")).hexdigest()
