"""Templates follow the Content Security Policy and load nothing from other servers."""

import re
from pathlib import Path

import pytest
from django.conf import settings

FORBIDDEN = {
    "a style attribute": r"\sstyle\s*=",
    "a style element": r"<style\b",
    "a script with content": r"<script\b(?![^>]*\bsrc=)[^>]*>",
    "an event attribute": r"\son[a-z]+\s*=\s*[\"']",
    "a script address": r"javascript:",
    "a remote address": r"(?:src|href|action)\s*=\s*[\"'](?:https?:)?//",
    "an hx-on attribute": r"\shx-on[:\s=]",
    # The tags of `wording` tell times and days in the reader's zone; `c` is for machines.
    "a time in the server's words": r"\|(?:date|time):(?!['\"]c['\"])|\|time(?:since|until)\b",
}
FOLDER = Path(settings.BASE_DIR) / "templates"
TEMPLATES = sorted(path for path in FOLDER.rglob("*") if path.suffix in {".html", ".svg"})


def offences(text: str) -> list[str]:
    return [name for name, pattern in FORBIDDEN.items() if re.search(pattern, text)]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_template_is_clean(path):
    assert offences(path.read_text()) == []


@pytest.mark.parametrize(
    "text",
    [
        '<p style="x">', "<style>", "<script>x</script>", '<script type="module">x</script>',
        '<a onclick="x">', '<a href="javascript:x">', '<img src="https://example.org/x.png">',
        '<script src="//example.org/x.js"></script>', '<p hx-on:click="x">', '{{ at|date:"j F Y" }}',
    ],
)  # fmt: skip
def test_what_is_forbidden_is_recognised(text):
    assert offences(text)


def test_stylesheets_and_scripts_fetch_nothing_from_elsewhere():
    static = Path(settings.BASE_DIR) / "static"
    files = [
        path for path in static.rglob("*") if path.suffix in {".css", ".js"} and "vendor" not in path.parts
    ]

    assert files
    for path in files:
        assert not re.search(r"@import|https?://|url\(\s*[\"']?//", path.read_text()), path
