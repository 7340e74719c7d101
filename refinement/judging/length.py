"""Shortens long texts for a judge to their head and tail."""

import unicodedata
from dataclasses import dataclass

HEAD_SHARE = 2 / 3  # the rest is the tail
SLACK_SHARE = 8  # a cut may move by an eighth of its part to the end of a line or word

_JOINERS = "\u200d\ufe0e\ufe0f"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The part of a text that is shown, and its share of the whole."""

    text: str
    seen_chars: int
    total_chars: int
    sentence: str

    @property
    def cut(self) -> bool:
        return self.seen_chars < self.total_chars


def excerpt(candidate: str, limit: int) -> Excerpt:
    """At most `limit` characters of the candidate: head, tail, and a line that counts what is missing."""
    if limit < 1:
        raise ValueError("the limit must be at least one character")
    total = len(candidate)
    if total <= limit:
        return Excerpt(candidate, total, total, judged(total, total))
    head_budget = max(1, int(limit * HEAD_SHARE))
    head = candidate[: _head_end(candidate, head_budget)]
    tail = candidate[_tail_start(candidate, total - (limit - head_budget)) :]
    seen = len(head) + len(tail)
    return Excerpt(f"{head}\n{marker(total - seen)}\n{tail}", seen, total, judged(seen, total))


def judged(seen: int, total: int) -> str:
    """How much of the text was judged, for people."""
    return f"judged {seen:,} of {total:,} characters"


def marker(missing: int) -> str:
    """The line that replaces the missing text."""
    return f"[... {missing:,} {'character' if missing == 1 else 'characters'} left out here ...]"


def shorten(text: str, limit: int) -> str:
    """The text as one line of at most `limit` characters, cut at a word and ending in an ellipsis."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    words = cut.rfind(" ")
    return (cut[:words] if words > limit // 2 else cut).rstrip(" ,;:.") + "…"


def _head_end(text: str, budget: int) -> int:
    earliest = budget - budget // SLACK_SHARE
    for boundary in ("\n", " "):
        found = text.rfind(boundary, earliest, budget)
        if found >= 0:
            return found + 1
    return _whole_character(text, budget, -1)


def _tail_start(text: str, start: int) -> int:
    latest = start + (len(text) - start) // SLACK_SHARE
    for boundary in ("\n", " "):
        found = text.find(boundary, start, latest)
        if found >= 0:
            return found + 1
    return _whole_character(text, start, 1)


def _whole_character(text: str, position: int, direction: int) -> int:
    """The nearest position in this direction that does not split a visible character."""
    while 0 < position < len(text) and _joined(text[position - 1], text[position]):
        position += direction
    return position


def _joined(before: str, after: str) -> bool:
    pair = "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff"
    return pair or after in _JOINERS or before == "\u200d" or unicodedata.combining(after) != 0
