"""Markdown from untrusted people: readable and harmless."""

import re
import time

import pytest

from refinement import rendering
from refinement.rendering import MOST_CHARS, MOST_HTML_CHARS, markdown

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))",
    "[a](data:text/html;base64,xxx)",
    "![a](http://example.org/x.png)",
    "<svg/onload=alert(1)>",
    "<a href='javascript:x'>y</a>",
    "`<script>`",
    "```html\n<script>alert(1)</script>\n```",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<!-- --><iframe src=//example.org>",
    "[x]: http://example.org/a.png\n\n![x]",
    "<style>body{display:none}</style>",
    "[a](/p/alpha/logout/)",
    "\ue000script\ue000",
)
ALLOWED = re.compile(
    r"</?(?:h[1-6]|p|br|hr|blockquote|pre|code|em|strong|del|ul|ol|li|table|thead|tbody|tr|th|td)>|</a>"
    r'|<ol start="\d+">|<a(?: href="(?:https?://|mailto:)[^"]*")?(?: title="[^"]*")?'
    r' rel="nofollow noopener noreferrer">'
)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_tag_but_ours(text):
    html = markdown(f"# Head\n\n{text}\n")
    assert "<" not in ALLOWED.sub("", html)
    assert not re.search(r"<[^>]*(?:javascript|data):", html)


def test_markup_is_shown_as_it_was_typed():
    html = markdown("Use <b>bold</b> & `a<b`.")
    assert "&lt;b&gt;bold&lt;/b&gt; &amp;" in html
    assert "<code>a&lt;b</code>" in html


def test_a_picture_becomes_a_link_and_is_not_loaded():
    html = markdown("![a chart](https://example.org/x.png)")
    assert "<img" not in html
    assert '<a href="https://example.org/x.png" rel="nofollow noopener noreferrer">a chart</a>' in html


def test_headings_lists_tables_and_boxes():
    html = markdown(
        "# A\n\n- [x] done\n- [ ] open\n\n|a|b|\n|-|-|\n|1|2|\n\n~~gone~~ <https://example.org>\n"
    )
    for part in (
        "<h1>A</h1>",
        "☑ done",
        "☐ open",
        "<td>1</td>",
        "<del>gone</del>",
        'href="https://example.org"',
    ):
        assert part in html


def test_nul_is_replaced():
    assert "\x00" not in markdown("a\x00b")


@pytest.mark.parametrize("text", ["> " * 50_000 + "x", "- " * 50_000 + "x", "[" * 100_000, "*a " * 50_000])
def test_text_made_to_be_slow_is_not(text):
    start = time.thread_time()
    markdown(text)
    assert time.thread_time() - start < 10


def test_what_cannot_be_rendered_is_left_to_the_page():
    assert markdown("x" * (MOST_CHARS + 1)) is None
    assert markdown("> " * 500 + "x") is None


def test_a_short_text_is_rendered_once_and_comes_out_the_same():
    rendering._cached.cache_clear()
    text = "**Reading**: see https://example.org"
    first = markdown(text)
    assert markdown(text) is first
    assert first == rendering._rendered(text)
    assert markdown("x" * (rendering.SHORT + 1)) == f"<p>{'x' * (rendering.SHORT + 1)}</p>\n"
    assert rendering._cached.cache_info().currsize == 1


def padded_table(columns: int, chars: int) -> str:
    """A wide head and rows of one cell, which are padded to its width."""
    head = "|" + "a|" * columns + "\n|" + "-|" * columns + "\n"
    return head + "a\n" * ((chars - len(head)) // 2)


@pytest.mark.parametrize(
    "text",
    [
        padded_table(724, 199_000),
        padded_table(24_000, 199_000),
        padded_table(200, 1_990),  # as small as a comment
        "www.a.b " * 24_000,
        "[](m) " * 33_000,
        "<http://a.b> " * 15_000,
    ],
    ids=["table", "wide table", "small table", "addresses", "empty links", "angle brackets"],
)
def test_html_that_outgrows_its_text_is_not_shown(text):
    assert markdown(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "|a|b|c|\n|-|-|-|\n" + "|1|2|3|\n" * 20_000,
        "- a\n" * 49_000,
        "&" * 199_000,
        '"' * 199_000,
        "- [ ] \n" * 28_000,
    ],
    ids=["table", "list", "escaped", "quoted", "boxes"],
)
def test_long_ordinary_texts_are_rendered(text):
    assert len(markdown(text)) < MOST_HTML_CHARS
