"""What somebody typed into a search as a list of terms, and in the two databases' own languages."""

import re

from refinement.migrations.triggers.search import MILESTONE

MOST_TERMS = 12
TERM = re.compile(r'(-?)(?:"([^"]*)"|(\S+))')
Terms = list[tuple[str, str]]


def terms(words: str) -> Terms:
    """Each word or quoted phrase with its sign; signs alone and what has no letter or digit are left out."""
    plain = words.replace("\x00", " ").replace(MILESTONE, " ")
    found = [(minus, phrase or word) for minus, phrase, word in TERM.findall(plain)]
    return [(minus, text) for minus, text in found if re.search(r"\w", text)][:MOST_TERMS]


def fts5_query(wanted: Terms, *, milestones: bool = False) -> str:
    """Every term as a string of FTS5's language, so that nothing in it is an operator.

    With milestones, each term may be one instead: so all of them meet there, however far they are apart.
    """
    quoted = [(minus, '"' + text.replace('"', " ") + '"') for minus, text in wanted]
    either = f'({{}} OR "{MILESTONE}")' if milestones else "{}"
    asked = " AND ".join(either.format(text) for minus, text in quoted if not minus)
    return " NOT ".join([f"({asked})", *(text for minus, text in quoted if minus)])


def web_query(wanted: Terms) -> str:
    """The same for `websearch_to_tsquery`, in which a quoted word is a word and never `or`."""
    return " ".join(f'{minus}"{text.replace(chr(34), " ")}"' for minus, text in wanted)
