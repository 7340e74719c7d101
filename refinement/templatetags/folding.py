"""Long texts of models on pages: their beginning first, all of them a click away, without script."""

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString

register = template.Library()

MOST_CHARS = 20_000  # of one text on a page
LITTLE_MORE = 5 / 4  # of the limit: what is hardly longer is not worth a click
LAST_WORD = 40  # characters within which the beginning is ended between two words


@register.simple_tag
def folded(text: str, limit: int) -> SafeString:
    """The text as text; from `limit` characters on its beginning, which opens."""
    if len(text) <= limit * LITTLE_MORE:
        return SafeString(f'<div class="text-block" dir="auto">{escape(text)}</div>')
    missing = len(text) - MOST_CHARS
    rest = (
        f'<p class="small soft">{missing:,} more characters are not on this page; the reply has them.</p>'
        if missing > 0
        else ""
    )
    return SafeString(
        f'<details class="fold"><summary><span class="text-block fold-start" dir="auto">'
        f"{escape(beginning(text, limit))}…</span> "
        f'<span class="fold-words">Show all {len(text):,} characters</span>'
        f'<span class="fold-less">Show less</span></summary>'
        f'<div class="text-block" dir="auto">{escape(text[:MOST_CHARS])}</div>{rest}</details>'
    )


def beginning(text: str, limit: int) -> str:
    """At most so many characters, ended between two words if there is a place for it."""
    start = text[:limit].rstrip()
    words = start.rsplit(None, 1)
    return words[0] if len(words) == 2 and len(words[1]) <= LAST_WORD else start
