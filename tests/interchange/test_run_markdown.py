"""Text of models and people in a report is escaped."""

import re

import cmarkgfm
import pytest

from refinement.interchange.imports.markdown_text import fenced, inline, table

HOSTILE = [
    "<script>alert(1)</script>",
    "![x](http://example.org/x.png)",
    "[click](javascript:alert(1))",
    "<img src=x onerror=alert(1)>",
    "http://example.org/auto",
    "www.example.org",
    "HTTPS://example.org WWW.example.org",
    "2) item",
    "+ item",
    "# Heading",
    "- item",
    "1. item",
    "> quote",
    "```\ncode",
    "~~~\ncode",
    "| a | b |",
    "a | b \\| c",
    "**bold** _it_ ~~gone~~",
    "line\n\n# Heading",
    "\u2028# x",
    "&lt;b&gt; &#x3c;b&#x3e;",
    "\\# \\<b>",
    "---",
    "===",
    "\u202eevil",
    "😀 \x00 \x1b[31m",
    "    indented",
    "x" * 100_000,
]


def rendered(markdown: str) -> str:
    return cmarkgfm.github_flavored_markdown_to_html(markdown)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:12].encode("ascii", "replace").decode())
def test_a_line_of_it_renders_as_its_own_words(text):
    html = rendered(f"Said: {inline(text)}\n")
    assert set(re.findall(r"<(\w+)", html)) == {"p"}
    assert "\u202e" not in html


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:12].encode("ascii", "replace").decode())
def test_a_cell_of_it_stays_in_its_cell(text):
    html = rendered(table(["A", "B"], [[inline(text), "after"]]))
    assert set(re.findall(r"<(\w+)", html)) <= {"table", "thead", "tbody", "tr", "th", "td"}
    assert html.count("<tr>") == 2
    assert html.count("<td>") == 2
    assert "<td>after</td>" in html


@pytest.mark.parametrize(
    "text",
    [
        *HOSTILE,
        "```",
        "`````\n# out",
        "a\n```\n<script>x</script>\n```",
        "~~~~",
        "\r```\r",
        "ends\n",
        "` `` ```",
    ],
    ids=lambda text: text[:12].encode("ascii", "replace").decode(),
)
def test_nothing_leaves_its_fence(text):
    html = rendered(f"before\n\n{fenced(text)}\nafter\n")
    assert re.findall(r"<(\w+)", html) == ["p", "pre", "code", "p"]
    assert html.rstrip().endswith("<p>after</p>")


@pytest.mark.parametrize(
    "text", ["8.60 reaches the pass mark of 9.0: it passed (twice)!", "qwen3:14b", "a - b"]
)
def test_ordinary_words_read_as_they_are(text):
    assert inline(text) == text


def test_a_fenced_text_is_kept_as_it_is():
    text = "# Title\n\n```py\nx = 1\n```\n\u202eabc"
    fence = "````"
    assert fenced(text) == f"{fence}text\n{text}\n{fence}\n"
