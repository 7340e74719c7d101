"""Cleans model text for storage, comparison and display."""

import re
from functools import lru_cache

SHOWN_CHARS = 60
WHITE = re.compile(r"\s+")


def clean(text: str, limit: int | None = None) -> str:
    """The text stripped and shortened, without characters that a database rejects (NUL, lone surrogates)."""
    cleaned = text.replace("\0", "").encode("utf-8", "replace").decode("utf-8").strip()
    if limit is None or len(cleaned) <= limit:
        return cleaned
    return cleaned[: limit - 1].rstrip() + "…"


def shown(text: str) -> str:
    """The start of the text on one line, for use in a message."""
    return clean(WHITE.sub(" ", text[: SHOWN_CHARS * 4]), SHOWN_CHARS)


def same_name(text: str) -> str:
    """The name in lower case with only letters and digits, for comparison."""
    return _same_short_name(text) if len(text) <= SHOWN_CHARS else _letters(text)


@lru_cache(maxsize=1_024)
def _same_short_name(text: str) -> str:
    """Cached, because the same criteria and field names occur in every reply."""
    return _letters(text)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
