"""Search input as terms, and as queries for both databases."""

import re

from refinement.migrations.triggers.search import MILESTONE

MOST_TERMS = 12
TERM = re.compile(r'(-?)(?:"([^"]*)"|(\S+))')
Terms = list[tuple[str, str]]


def terms(words: str) -> Terms:
    """Each word or quoted phrase with its sign. Input without letters or digits is left out."""
    plain = words.replace("\x00", " ").replace(MILESTONE, " ")
    found = [(minus, phrase or word) for minus, phrase, word in TERM.findall(plain)]
    return [(minus, text) for minus, text in found if re.search(r"\w", text)][:MOST_TERMS]


def fts5_query(wanted: Terms, *, milestones: bool = False) -> str:
    """Every term as an FTS5 string, so no input is an operator.

    With milestones, each term also matches a milestone row.
    """
    quoted = [(minus, '"' + text.replace('"', " ") + '"') for minus, text in wanted]
    either = f'({{}} OR "{MILESTONE}")' if milestones else "{}"
    asked = " AND ".join(either.format(text) for minus, text in quoted if not minus)
    return " NOT ".join([f"({asked})", *(text for minus, text in quoted if minus)])


def web_query(wanted: Terms) -> str:
    """The terms for `websearch_to_tsquery`. Quoting keeps `or` a plain word."""
    return " ".join(f'{minus}"{text.replace(chr(34), " ")}"' for minus, text in wanted)
