"""Renders untrusted Markdown as safe HTML. All Markdown is rendered here.

Raw HTML is shown as text, no external content is loaded, and links use only http, https and mailto.
"""

import re
from collections.abc import Callable
from functools import lru_cache

import cmarkgfm  # type: ignore[import-untyped]
import nh3
from django.utils.safestring import SafeString, mark_safe

MOST_CHARS = 200_000  # longer texts are shown as plain text
# Table rows are padded to the width of the header and links get attributes, so HTML can be much longer than
# its text. Above these limits it is not shown. A plain table of single digits grows five to six times.
MOST_HTML_CHARS = 1_000_000
MOST_GROWTH, GROWTH_FROM = 8, 10_000
SHORT, REMEMBERED = 2_000, 1_024  # longest text to cache, and size of the cache

Filter = Callable[[str, str, str], str | None]
_TAGS = frozenset(
    {
        *("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "blockquote", "pre", "code", "em", "strong"),
        *("del", "ul", "ol", "li", "a", "table", "thead", "tbody", "tr", "th", "td"),
    }
)
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
_SCHEMES = {"http", "https", "mailto"}
# Placeholders while the Markdown is parsed, so that it contains no tags and no images. Afterwards they are
# replaced: `<b>` shows as typed, an image as a link.
_LESS, _PICTURE = "\ue000", "\ue001"
_SPECIAL = str.maketrans(dict.fromkeys(("\x00", _LESS, _PICTURE), "\N{REPLACEMENT CHARACTER}"))
_TAG_START = re.compile(r"<(?!https?://[^\s<>]{1,2000}>)")  # a URL in angle brackets is not a tag
_BOXES = (
    ('<input type="checkbox" checked="" disabled="" />', "☑"),
    ('<input type="checkbox" disabled="" />', "☐"),
)
_TAG = re.compile(r"<(/?)[a-z][^>]*?(/?)>")
_HEADING = re.compile(r"<h([1-6])>(.*?)</h\1>", re.DOTALL)
_VOID = ("<br", "<hr", "<img", "<input")
MOST_DEPTH = 100  # sanitising takes quadratic time in the depth


def markdown(text: str) -> SafeString | None:
    """The text as safe HTML; None if it is too long."""
    if len(text) <= SHORT:
        return _cached(text)
    return None if len(text) > MOST_CHARS else _rendered(text)


@lru_cache(maxsize=REMEMBERED)
def _cached(text: str) -> SafeString | None:
    """Short texts are cached, because they are shown on many pages."""
    return _rendered(text)


def document(text: str, link: Callable[[str], str | None]) -> SafeString:
    """A shipped document as HTML: `link` resolves its relative links, and headings can be linked to."""

    def filtered(tag: str, attribute: str, value: str) -> str | None:
        shown = _filtered(tag, attribute, value)
        return link(value) if attribute == "href" and shown is None else shown

    html = (_rendered(text, filtered) or "").replace("<pre>", '<pre tabindex="0">')  # scrolled by keyboard
    return mark_safe(_HEADING.sub(_anchored, html))  # noqa: S308  sanitised above


def _anchored(heading: re.Match[str]) -> str:
    level, words = heading.groups()
    plain = re.sub(r"<[^>]*>|&\w+;", "", words).lower()
    anchor = re.sub(r"[^\w -]", "", plain).replace(" ", "-")
    return f'<h{level} id="{anchor}">{words}</h{level}>'


def _rendered(text: str, filtered: Filter | None = None) -> SafeString | None:
    harmless = text.translate(_SPECIAL).replace("![", f"{_PICTURE}[")
    html: str = cmarkgfm.github_flavored_markdown_to_html(_TAG_START.sub(_LESS, harmless))
    most = min(MOST_HTML_CHARS, GROWTH_FROM + MOST_GROWTH * len(text))
    # Sanitising shortens the HTML, so the limit is doubled here.
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
        attribute_filter=filtered or _filtered,
    )
    html = clean.replace(_LESS, "&lt;").replace(_PICTURE, "!")
    return None if len(html) > most else mark_safe(html)  # noqa: S308  the output is sanitised


def _filtered(tag: str, attribute: str, value: str) -> str | None:
    """The attribute's value, or None to drop it: relative links, and `lang` from code fences."""
    if attribute == "href":
        return value if value.startswith(("http://", "https://", "mailto:")) else None
    return None if attribute == "lang" else value


def depth(html: str) -> int:
    """The maximum nesting depth of elements."""
    deepest = now = 0
    for tag in _TAG.finditer(html):
        if tag.group(1):
            now -= 1
        elif not tag.group(2) and not tag.group().startswith(_VOID):
            now += 1
            deepest = max(deepest, now)
    return deepest
