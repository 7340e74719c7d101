"""Long model output: the start is shown, the rest is behind a disclosure, without script."""

from collections.abc import Mapping

from django import template

from refinement.judging.quotations import linked_pieces

register = template.Library()

MOST_CHARS = 20_000  # per text on a page
TOLERANCE = 5 / 4  # times the limit: a slightly longer text is shown in full
LAST_WORD = 40  # cut at a word boundary within this many characters


@register.inclusion_tag("refinement/tags/folded.html")
def folded(text: str, limit: int, links: Mapping[str, str] | None = None) -> dict[str, object]:
    """The escaped text; if longer than `limit`, its start with a disclosure.

    Passages in `links` become links to their source.
    """
    if len(text) <= limit * TOLERANCE:
        return {"pieces": linked_pieces(text, links or {})}
    missing = len(text) - MOST_CHARS
    return {
        "pieces": linked_pieces(text[:MOST_CHARS], links or {}),
        "start": beginning(text, limit),
        "characters": f"{len(text):,}",
        "missing": f"{missing:,}" if missing > 0 else "",
    }


def beginning(text: str, limit: int) -> str:
    """At most `limit` characters, cut at a word boundary if possible."""
    start = text[:limit].rstrip()
    words = start.rsplit(None, 1)
    return words[0] if len(words) == 2 and len(words[1]) <= LAST_WORD else start
