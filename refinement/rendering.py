"""Markdown from people and models as HTML that can do no harm: the one place where it is made.

A text is hostile until it has been through here: raw HTML is shown as text, nothing is loaded from
elsewhere, and links lead out only by http, https and mailto.
"""

import re
from functools import lru_cache

import cmarkgfm  # type: ignore[import-untyped]
import nh3
from django.utils.safestring import SafeString, mark_safe

MOST_CHARS = 200_000  # longer texts are shown as they are written
# A table's rows are padded to the width of its head, and every link gets attributes: HTML that outgrows its
# text by more than this is not shown. A plain table of single digits grows five to six times.
MOST_HTML_CHARS = 1_000_000
MOST_GROWTH, GROWTH_FROM = 8, 10_000
SHORT, REMEMBERED = 2_000, 1_024  # most characters of a text whose HTML is kept, and how many of them

_TAGS = frozenset(
    {
        *("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "pre", "code", "em", "strong"),
        *("del", "ul", "ol", "li", "a", "table", "thead", "tbody", "tr", "th", "td"),
    }
)
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
_SCHEMES = {"http", "https", "mailto"}
# Stand-ins while the Markdown is read, so that no tag and no picture is ever seen in it. Put back afterwards,
# they are the signs that were written: `<b>` shows as it is typed, a picture as a link to it.
_LESS, _PICTURE = "\ue000", "\ue001"
_SPECIAL = str.maketrans(dict.fromkeys(("\x00", _LESS, _PICTURE), "\N{REPLACEMENT CHARACTER}"))
_TAG_START = re.compile(r"<(?!https?://[^\s<>]{1,2000}>)")  # an address between these signs is no tag
_BOXES = (
    ('<input type="checkbox" checked="" disabled="" />', "☑"),
    ('<input type="checkbox" disabled="" />', "☐"),
)
_TAG = re.compile(r"<(/?)[a-z][^>]*?(/?)>")
_VOID = ("<br", "<hr", "<img", "<input")
MOST_DEPTH = 100  # a sanitiser's time grows with the square of the depth


def markdown(text: str) -> SafeString | None:
    """The text as HTML of headings, lists, tables, code and links; None where there is too much of it."""
    if len(text) <= SHORT:
        return _remembered(text)
    return None if len(text) > MOST_CHARS else _rendered(text)


@lru_cache(maxsize=REMEMBERED)
def _remembered(text: str) -> SafeString | None:
    """What people write is read again with every page, and comes out the same for everybody."""
    return _rendered(text)


def _rendered(text: str) -> SafeString | None:
    harmless = text.translate(_SPECIAL).replace("![", f"{_PICTURE}[")
    html: str = cmarkgfm.github_flavored_markdown_to_html(_TAG_START.sub(_LESS, harmless))
    most = min(MOST_HTML_CHARS, GROWTH_FROM + MOST_GROWTH * len(text))
    # Twice as much before sanitising, which writes quotation marks and boxes shorter.
    if len(html) > 2 * most or depth(html) > MOST_DEPTH:
        return None
    for box, sign in _BOXES:
        html = html.replace(box, sign)
    clean = nh3.clean(
        html,
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel="nofollow noopener noreferrer",
        attribute_filter=_kept,
    )
    shown = clean.replace(_LESS, "&lt;").replace(_PICTURE, "!")
    return None if len(shown) > most else mark_safe(shown)  # noqa: S308  the sanitiser's output is the one HTML that is trusted


def _kept(tag: str, attribute: str, value: str) -> str | None:
    """Of links whole addresses alone, as others lead into this site; a fence's name is no language."""
    if attribute == "href":
        return value if value.startswith(("http://", "https://", "mailto:")) else None
    return None if attribute == "lang" else value


def depth(html: str) -> int:
    """How many elements stand in one another at the deepest place."""
    deepest = now = 0
    for tag in _TAG.finditer(html):
        if tag.group(1):
            now -= 1
        elif not tag.group(2) and not tag.group().startswith(_VOID):
            now += 1
            deepest = max(deepest, now)
    return deepest
