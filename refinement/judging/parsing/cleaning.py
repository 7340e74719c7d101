"""Model text made fit to be stored, compared and shown."""

import re
from functools import lru_cache

SHOWN_CHARS = 60
WHITE = re.compile(r"\s+")


def clean(text: str, limit: int | None = None) -> str:
    """The text stripped and bounded, free of what a database or UTF-8 refuses (NUL, lone surrogates)."""
    kept = text.replace("\0", "").encode("utf-8", "replace").decode("utf-8").strip()
    if limit is None or len(kept) <= limit:
        return kept
    return kept[: limit - 1].rstrip() + "…"


def shown(text: str) -> str:
    """A few words of the text on one line, to quote in a sentence."""
    return clean(WHITE.sub(" ", text[: SHOWN_CHARS * 4]), SHOWN_CHARS)


def same_name(text: str) -> str:
    """What remains of a name when case, spaces, underscores, hyphens and marks are set aside."""
    return _same_short_name(text) if len(text) <= SHOWN_CHARS else _letters(text)


@lru_cache(maxsize=1_024)
def _same_short_name(text: str) -> str:
    """The names of criteria and of a reply's fields come again with every reply."""
    return _letters(text)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
