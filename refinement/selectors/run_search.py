"""Runs whose task or candidates hold some words: SQLite's FTS5, PostgreSQL's text search.

Words are whole and without regard to case; all of them stand in one text. "Words in quotes" stand
together, and a word with a minus before it is not there. The index is kept by the database itself (see
the migration `0013_search`); a text in it has the number `project << 48 | run << 16 | round`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Max, Min

from refinement.models import Project, Run

MOST_TERMS = 12
TERM = re.compile(r'(-?)(?:"([^"]*)"|(\S+))')
SQLITE = """
SELECT DISTINCT (rowid >> 16) & 4294967295 FROM refinement_search
WHERE refinement_search MATCH %s AND rowid >= %s AND rowid < %s ORDER BY rowid {order} LIMIT %s
"""
POSTGRESQL = """
SELECT DISTINCT run_id FROM refinement_search
WHERE words @@ websearch_to_tsquery('simple', %s) AND project_id = %s AND run_id > %s AND run_id < %s
ORDER BY run_id {order} LIMIT %s
"""
LAST_RUN = (1 << 32) - 1
# Several words that are common but never meet would have every text read: such a search looks at a part of
# the runs after the other, each as large as the time that is left allows, and stops for now when it is up.
FIRST_PART = 500
GROWTH = 4
SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Found:
    """Runs in the order asked for; unless all were looked through, the number from which to look further."""

    numbers: list[int]
    resume: int | None = None


def search(
    project: Project,
    words: str,
    *,
    limit: int,
    above: int = 0,
    below: int = LAST_RUN,
    oldest_first: bool = False,
) -> Found:
    """The nearest runs that hold the words, in a time that does not grow with the number of runs."""
    wanted = terms(words)
    if len(wanted) == 1 and len(re.findall(r"\w+", wanted[0][1])) == 1:
        found = hits(project, words, limit=limit, above=above, below=below, oldest_first=oldest_first)
        return Found(found, found[-1] if len(found) == limit else None)
    numbers: list[int] = []
    ends = Run.objects.filter(project=project).aggregate(first=Min("pk"), last=Max("pk"))
    low, high = max(above, (ends["first"] or 1) - 1), min(below, (ends["last"] or 0) + 1)
    size, started = FIRST_PART, monotonic()
    while high - low > 1:
        part, low, high = _part(low, high, size, oldest_first)
        began, room = monotonic(), limit - len(numbers)
        numbers += hits(project, words, limit=room, above=part[0], below=part[1], oldest_first=oldest_first)
        if len(numbers) == limit:
            return Found(numbers, numbers[-1])
        now = monotonic()
        left = SECONDS - (now - started)
        if left <= 0:
            return Found(numbers, part[1] - 1 if oldest_first else part[0] + 1)
        size = min(size * GROWTH, max(FIRST_PART, int(size * left / max(now - began, 1e-6))))
    return Found(numbers)


def _part(low: int, high: int, size: int, oldest_first: bool) -> tuple[tuple[int, int], int, int]:
    """The near end of a span of run numbers, and what is left of it; both ends of a span are outside it."""
    if oldest_first:
        edge = min(high, low + size + 1)
        return (low, edge), edge - 1, high
    edge = max(low, high - size - 1)
    return (edge, high), low, edge + 1


def hits(
    project: Project,
    words: str,
    *,
    limit: int,
    above: int = 0,
    below: int = LAST_RUN,
    oldest_first: bool = False,
    using: str | None = None,
) -> list[int]:
    """The newest (or oldest) runs between the two numbers that hold the words; [] for no words at all."""
    wanted = terms(words)
    if not any(sign == "" for sign, _ in wanted):
        return []
    connection = connections[using or DEFAULT_DB_ALIAS]
    order = "ASC" if oldest_first else "DESC"
    if connection.vendor == "postgresql":
        sql, values = POSTGRESQL, [web_query(wanted), project.pk, above, below, limit]
    else:
        start = project.pk << 48
        low, high = start | (above + 1) << 16, start | below << 16
        sql, values = SQLITE, [fts5_query(wanted), low, high, limit]
    return rows(connection, sql.format(order=order), values)


def rows(connection: Any, sql: str, values: Sequence[object]) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [key for (key,) in cursor.fetchall()]


def terms(words: str) -> list[tuple[str, str]]:
    """Each word or quoted phrase with its sign; signs alone and what has no letter or digit are left out."""
    found = [(minus, phrase or word) for minus, phrase, word in TERM.findall(words.replace("\x00", " "))]
    return [(minus, text) for minus, text in found if re.search(r"\w", text)][:MOST_TERMS]


def fts5_query(wanted: list[tuple[str, str]]) -> str:
    """Every term as a string of FTS5's language, so that nothing in it is an operator."""
    quoted = [(minus, '"' + text.replace('"', " ") + '"') for minus, text in wanted]
    asked = " AND ".join(text for minus, text in quoted if not minus)
    return " NOT ".join([f"({asked})", *(text for minus, text in quoted if minus)])


def web_query(wanted: list[tuple[str, str]]) -> str:
    """The same for `websearch_to_tsquery`, in which a quoted word is a word and never `or`."""
    return " ".join(f'{minus}"{text.replace(chr(34), " ")}"' for minus, text in wanted)
