"""Runs whose task or candidates hold some words: SQLite's FTS5, PostgreSQL's text search.

Words are whole and without regard to case; all of them stand in one text. "Words in quotes" stand
together, and a word with a minus before it is not there. The index is kept by the database itself (see
`migrations/triggers/search.py`); a text in it has the number `project << 48 | run << 16 | round`.

Words that are common but never meet would have every text read. A search stops for now when its time is up
and says from where to look further: SQLite's reads along and looks at the clock at each
milestone in its index, PostgreSQL's looks at some runs after the others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import inf
from time import monotonic
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Max, Min

from refinement.models import Project, Run
from refinement.selectors.runs.search_terms import Terms, fts5_query, terms, web_query

SQLITE = """
SELECT rowid FROM refinement_search
WHERE refinement_search MATCH %s AND rowid >= %s AND rowid < %s ORDER BY rowid {order}
"""
# All finds first, then their order: the planner, which does not know what a text costs, would rather read the
# texts in their order than ask the index of words.
POSTGRESQL_PART = """
WITH found AS MATERIALIZED (
    SELECT run_id FROM refinement_search
    WHERE words @@ websearch_to_tsquery('simple', %s) AND project_id = %s AND run_id > %s AND run_id < %s
) SELECT DISTINCT run_id FROM found ORDER BY run_id {order} LIMIT %s
"""
# Of a run that holds the words in many texts, only the first of these is read. OFFSET 0 keeps the planner
# from looking for the words in all texts once for each run, which it does where the table is small.
POSTGRESQL_NEAR = """
SELECT near.id, hit.one FROM (
    SELECT id FROM refinement_run WHERE project_id = %s AND id > %s AND id < %s ORDER BY id {order} LIMIT %s
) near LEFT JOIN LATERAL (
    SELECT 1 AS one FROM (SELECT words FROM refinement_search WHERE run_id = near.id OFFSET 0) text
    WHERE words @@ websearch_to_tsquery('simple', %s) LIMIT 1
) hit ON true ORDER BY near.id {order}
"""
LAST_RUN = (1 << 32) - 1
LAST_ROUND = (1 << 16) - 1
# What a search may take before it stops for now. A text takes PostgreSQL ten times as long.
SECONDS = {"sqlite": 0.005, "postgresql": 0.01}
# PostgreSQL reads along for as long as one of so many runs holds the words; beyond, it asks its index about
# a part of the runs after the other, each as large as the time that is left allows.
NEAR_RUNS = 100
SPARSE = 4
GROWTH = 64
QUESTION_SECONDS = 0.001  # what any question takes, however little it asks for


@dataclass(frozen=True, slots=True)
class Found:
    """Runs in the order asked for; unless all were looked through, the number from which to look further."""

    numbers: list[int]
    resume: int | None = None


@dataclass(slots=True)
class Search:
    """A search under way: what is left of its span of runs, whose ends are both outside it."""

    project: Project
    wanted: Terms
    limit: int
    above: int
    below: int
    oldest_first: bool
    connection: Any
    seconds: float
    numbers: list[int] = field(default_factory=list)
    started: float = field(default_factory=monotonic)

    @property
    def left(self) -> float:
        """Seconds; none are left when it is not above 0."""
        return self.seconds - (monotonic() - self.started)

    def room_for(self, count: int, *, since: float) -> float:
        """How many more can be done in the time that is left, at the pace of these."""
        return count * self.left / max(monotonic() - since - QUESTION_SECONDS, 1e-4)

    @property
    def order(self) -> str:
        return "ASC" if self.oldest_first else "DESC"

    def add(self, numbers: Iterable[int]) -> bool:
        """Whether that was enough."""
        self.numbers += islice(numbers, self.limit - len(self.numbers))
        return len(self.numbers) == self.limit

    def pass_by(self, number: int) -> None:
        """All runs up to this one were looked at."""
        if self.oldest_first:
            self.above = number
        else:
            self.below = number

    def stopped(self) -> Found:
        return Found(self.numbers, self.above if self.oldest_first else self.below)


def search(
    project: Project,
    words: str,
    *,
    limit: int,
    above: int = 0,
    below: int = LAST_RUN,
    oldest_first: bool = False,
    using: str | None = None,
    seconds: float | None = None,
) -> Found:
    """The nearest runs that hold the words, in a time that does not grow with the number of runs."""
    wanted, connection = terms(words), connections[using or DEFAULT_DB_ALIAS]
    if not any(sign == "" for sign, _ in wanted):
        return Found([])
    time = SECONDS[connection.vendor] if seconds is None else seconds
    asked = Search(project, wanted, limit, above, below, oldest_first, connection, time)
    return _from_milestone_to_milestone(asked) if connection.vendor == "sqlite" else _run_by_run(asked)


def hits(project: Project, words: str, *, limit: int, using: str | None = None) -> list[int]:
    """The newest runs that hold the words, however long it takes; [] for no words at all."""
    return search(project, words, limit=limit, using=using, seconds=inf).numbers


def _from_milestone_to_milestone(asked: Search) -> Found:
    """Finds and milestones in their order, until there are enough or the time is up."""
    low, high = _span(asked.project, asked.above, asked.below)
    values = [fts5_query(asked.wanted, milestones=True), low, high - 1]  # not the one where it stopped last
    with asked.connection.cursor() as cursor:
        cursor.execute(SQLITE.format(order=asked.order), values)
        for (place,) in cursor:
            run = (place >> 16) & LAST_RUN
            if place & LAST_ROUND == LAST_ROUND:
                if asked.left <= 0:
                    asked.pass_by(run if asked.oldest_first else run + 1)
                    return asked.stopped()
            elif run not in asked.numbers[-1:] and asked.add([run]):
                asked.pass_by(run)
                return asked.stopped()
    return Found(asked.numbers)


def _run_by_run(asked: Search) -> Found:
    """The nearest runs one by one, for as long as many of them hold the words."""
    query, count = web_query(asked.wanted), NEAR_RUNS
    while True:
        began = monotonic()
        values = [asked.project.pk, asked.above, asked.below, count, query]
        looked_at = rows(asked.connection, POSTGRESQL_NEAR.format(order=asked.order), values)
        found = [run for run, holds in looked_at if holds]
        if asked.add(found):
            asked.pass_by(asked.numbers[-1])
            return asked.stopped()
        if len(looked_at) < count:
            return Found(asked.numbers)
        asked.pass_by(looked_at[-1][0])
        if asked.left <= 0:
            return asked.stopped()
        if len(found) * SPARSE < count:
            return _part_by_part(asked, abs(looked_at[0][0] - looked_at[-1][0]) + 1)
        wanted = (asked.limit - len(asked.numbers)) * count / len(found)
        count = max(NEAR_RUNS, int(min(wanted, asked.room_for(count, since=began))))


def _part_by_part(asked: Search, size: int) -> Found:
    """What is left, by the index; `size` is how far the numbers of NEAR_RUNS runs reach."""
    runs = Run.objects.using(asked.connection.alias).filter(project=asked.project)
    ends = runs.aggregate(first=Min("pk"), last=Max("pk"))
    asked.above = max(asked.above, ends["first"] - 1)
    asked.below = min(asked.below, ends["last"] + 1)
    smallest, query = size, web_query(asked.wanted)
    sql = POSTGRESQL_PART.format(order=asked.order)
    while asked.below - asked.above > 1:
        began = monotonic()
        low, high = _near_end(asked, size)
        values = [query, asked.project.pk, low, high, asked.limit - len(asked.numbers)]
        if asked.add(run for (run,) in rows(asked.connection, sql, values)):
            asked.pass_by(asked.numbers[-1])
            return asked.stopped()
        asked.pass_by(high - 1 if asked.oldest_first else low + 1)
        if asked.left <= 0:
            return asked.stopped()
        size = max(smallest, int(min(size * GROWTH, asked.room_for(size, since=began))))
    return Found(asked.numbers)


def _near_end(asked: Search, size: int) -> tuple[int, int]:
    """So many numbers at the near end of the span; both ends are outside it."""
    if asked.oldest_first:
        return asked.above, min(asked.below, asked.above + size + 1)
    return max(asked.above, asked.below - size - 1), asked.below


def _span(project: Project, above: int, below: int) -> tuple[int, int]:
    """The numbers in SQLite's index of the texts of the runs between the two; the second is outside."""
    start = project.pk << 48
    return start | (above + 1) << 16, start | below << 16


def rows(connection: Any, sql: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found
