"""Cuts a line of a judge into texts without changing them: Markdown, quotes and dashes are kept."""

import re

# Asterisks between digits are arithmetic, not bold: 9**9 must not become 99.
MARKUP = re.compile(r"(?<!\d)\*\*|\*\*(?!\d)|__(?=\W|$)|(?<!\w)__|`")
SEPARATOR = re.compile(r"\s+(?P<mark>[-–—]{1,2}|\|)\s+")
TIGHT_SEPARATOR = re.compile(r"(?P<mark>—)")
LEADING = re.compile(r"[\s,;:.)\]}]*(?P<mark>[-–—]{1,2}|\|)?[\s\-–—:|,;.)\]}]*")
PAIRS = (("`", "`"), ('"', '"'), ("“", "”"), ("«", "»"), ("(", ")"), ("[", "]"))
QUOTES = (('"', '"'), ("'", "'"), ("“", "”"))
TRAILING = " \t,{["
MARKERS = ("**", "__", "`", "*")


class Line:
    """A line as the judge wrote it (`text`), and without Markdown (`plain`), to find names and scores in."""

    def __init__(self, text: str) -> None:
        self.text = text
        dropped = {place for match in MARKUP.finditer(text) for place in range(*match.span())}
        self._kept = [place for place in range(len(text)) if place not in dropped]
        self.plain = "".join(text[place] for place in self._kept)

    def as_said(self, tail: str) -> str:
        """The end of the original line, given the same end without Markdown."""
        tail = tail.strip()
        if not tail:
            return ""
        start = self._kept[self.plain.rfind(tail)]
        opened = MARKUP.search(self.text, max(0, start - 2), start)
        if opened and opened.end() == start and self.text[: opened.start()].count(opened.group()) % 2 == 0:
            start = opened.start()  # the text begins with this mark, such as `code`
        return balanced(self.text[start:].strip())


def balanced(text: str) -> str:
    """The text without a mark at its end that is opened before it, such as the end of a line in bold."""
    for marker in MARKERS:
        if text.endswith(marker) and text.count(marker) % 2:
            text = text.removesuffix(marker).rstrip()
    return text


def bare(value: str) -> str:
    """The text without separators before it, list or object characters after it, and quotes around it."""
    text = value.strip()
    text = text[_leading(text).end() :].rstrip(TRAILING)
    for opening, closing in QUOTES:
        inner = text.removeprefix(opening).removesuffix(closing)
        if opening not in inner and closing not in inner and _is_quoted(text, opening, closing):
            return inner.strip()
    return text


def _is_quoted(text: str, opening: str, closing: str) -> bool:
    """Whether the text is in these quotes, or has only one of them, at its start or end."""
    return text.startswith(opening) or (text.endswith(closing) and closing != "'")


def split_at_dash(rest: str, label: re.Pattern[str]) -> tuple[str, str]:
    """Reasoning and improvement: split at the last separator that leaves both parts whole.

    A separator like the one before the reasoning counts first, so that another kind of dash inside a
    sentence does not. `label` is removed from the start of the reasoning.
    """
    lead = _leading(rest.strip())
    text = label.sub("", bare(rest))
    found = [match for match in SEPARATOR.finditer(text) if _is_whole(text, match)]
    found = found or [match for match in TIGHT_SEPARATOR.finditer(text) if _is_whole(text, match)]
    same = [match for match in found if match["mark"] == lead["mark"]]
    if not found:
        return text, ""
    at = (same or found)[-1]
    return text[: at.start()].strip(), text[at.end() :].strip()


def _leading(text: str) -> re.Match[str]:
    match = LEADING.match(text)
    assert match is not None  # every part of it is optional
    return match


def _is_whole(text: str, separator: re.Match[str]) -> bool:
    """Whether both sides have text, and the separator is not inside code, quotes or brackets."""
    before, after = text[: separator.start()], text[separator.end() :]
    if not before.strip() or not after.strip():
        return False
    return not any(
        _is_inside(before, text, opening, closing) for opening, closing in PAIRS if opening in before
    )


def _is_inside(before: str, text: str, opening: str, closing: str) -> bool:
    """Whether a pair is open at the end of `before`. Marks that do not pair up in the text are ignored."""
    if opening == closing:
        return text.count(opening) % 2 == 0 and before.count(opening) % 2 == 1
    return text.count(opening) == text.count(closing) and before.count(opening) > before.count(closing)
