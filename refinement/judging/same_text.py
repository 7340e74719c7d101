"""Whether two texts are the same one, however they came in."""

import hashlib


def plain_lines(text: str) -> str:
    """The text with one kind of line end: a browser's form sends its own, which are no part of it."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def fingerprint(text: str) -> str:
    """The same for texts that differ in nothing but line ends and blank space around them."""
    return hashlib.sha256(plain_lines(text).strip().encode("utf-8", "replace")).hexdigest()
