"""Long model output on pages: the beginning first, the whole text one click away, without script."""

from django import template

register = template.Library()

MOST_CHARS = 20_000  # of one text on a page
TOLERANCE = 5 / 4  # of the limit: a text that is hardly longer is shown whole
LAST_WORD = 40  # characters within which the beginning ends between two words


@register.inclusion_tag("refinement/tags/folded.html")
def folded(text: str, limit: int) -> dict[str, object]:
    """The text, escaped; from `limit` characters on only its beginning, which opens."""
    if len(text) <= limit * TOLERANCE:
        return {"text": text}
    missing = len(text) - MOST_CHARS
    return {
        "text": text[:MOST_CHARS],
        "start": beginning(text, limit),
        "characters": f"{len(text):,}",
        "missing": f"{missing:,}" if missing > 0 else "",
    }


def beginning(text: str, limit: int) -> str:
    """At most so many characters, ended between two words if there is a place for it."""
    start = text[:limit].rstrip()
    words = start.rsplit(None, 1)
    return words[0] if len(words) == 2 and len(words[1]) <= LAST_WORD else start
