"""Escapes text for Markdown."""

import re
from collections.abc import Iterable, Sequence

_MARKUP = re.compile(r"([\\`*_\[\]|~])")
_MARKUP_AT_THE_START = re.compile(r"^([#>+=-]|\d+(?=[.)](?:\s|$)))")
_LINKS = re.compile(r"(:)(?=//)|(?<=www)(\.)", re.I)
_LINE_BREAKS = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
# Control characters and characters that change the text direction.
_DISRUPTIVE = re.compile("[\x00-\x08\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


def inline(text: object) -> str:
    """The text on one line, with Markdown and HTML escaped."""
    plain = _DISRUPTIVE.sub("\N{REPLACEMENT CHARACTER}", _LINE_BREAKS.sub(" ", str(text)))
    escaped = _MARKUP.sub(r"\\\1", plain.strip()).replace("&", "&amp;").replace("<", "&lt;")
    escaped = _LINKS.sub(lambda match: f"\\{match[0]}", escaped)
    # "1." would start a list; only the full stop can be escaped.
    return _MARKUP_AT_THE_START.sub(_plain_start, escaped, count=1)


def _plain_start(match: re.Match[str]) -> str:
    return f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}"


def fenced(text: str) -> str:
    """The text in a code fence that is longer than any fence inside it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    ending = "" if text.endswith(("\n", "\r")) else "\n"
    return f"{fence}text\n{text}{ending}{fence}\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
