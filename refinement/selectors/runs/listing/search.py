"""Search for runs by title, task and candidates: FTS5 on SQLite, text search on PostgreSQL.

Matches whole words, case-insensitive; all must be in one text. "Quoted words" match as a phrase, and a minus
excludes a word. Database triggers maintain the index (see `migrations/triggers/search.py`); a text's id in it
is `project << 48 | run << 16 | round`.

Common words that never occur together would force a read of every text, so a search has a time limit and
returns where to continue. On SQLite it checks the clock at milestone rows in the index; on PostgreSQL it
searches a range of runs at a time.
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
from refinement.selectors.runs.listing.search_terms import Terms, fts5_query, terms, web_query

SQLITE = """
SELECT rowid FROM refinement_search
WHERE refinement_search MATCH %s AND rowid >= %s AND rowid < %s ORDER BY rowid {order}
"""
# Collect all matches first, then sort. The planner underestimates the cost of reading a text and would
# otherwise read texts in order instead of using the word index.
POSTGRESQL_PART = """
WITH found AS MATERIALIZED (
    SELECT run_id FROM refinement_search
    WHERE words @@ websearch_to_tsquery('simple', %s) AND project_id = %s AND run_id > %s AND run_id < %s
) SELECT DISTINCT run_id FROM found ORDER BY run_id {order} LIMIT %s
"""
# Stops at a run's first matching text. OFFSET 0 keeps the planner from matching all texts once per run, which
# it does for small tables.
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
# Time limit of one search. PostgreSQL takes ten times as long per text.
SECONDS = {"sqlite": 0.005, "postgresql": 0.01}
# PostgreSQL checks run by run as long as one of this many runs matches. After that it queries the index by
# ranges, each as large as the remaining time allows.
NEAR_RUNS = 100
SPARSE = 4
GROWTH = 64
QUESTION_SECONDS = 0.001  # fixed cost of a query


@dataclass(frozen=True, slots=True)
class Found:
    """Matching runs in order; if the search is incomplete, the run number from which to continue."""

    numbers: list[int]
    resume: int | None = None


@dataclass(slots=True)
class Search:
    """A search in progress: the remaining range of run numbers, both ends exclusive."""

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
        """Remaining seconds; 0 or less means the time is up."""
        return self.seconds - (monotonic() - self.started)

    def capacity_for(self, count: int, *, since: float) -> float:
        """How many more items fit in the remaining time at the current pace."""
        return count * self.left / max(monotonic() - since - QUESTION_SECONDS, 1e-4)

    @property
    def order(self) -> str:
        return "ASC" if self.oldest_first else "DESC"

    def add(self, numbers: Iterable[int]) -> bool:
        """Adds matches. Returns whether there are enough."""
        self.numbers += islice(numbers, self.limit - len(self.numbers))
        return len(self.numbers) == self.limit

    def pass_by(self, number: int) -> None:
        """Marks all runs up to this one as searched."""
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
    """The nearest matching runs, in a time that does not depend on the number of runs."""
    wanted, connection = terms(words), connections[using or DEFAULT_DB_ALIAS]
    if not any(sign == "" for sign, _ in wanted):
        return Found([])
    time = SECONDS[connection.vendor] if seconds is None else seconds
    asked = Search(project, wanted, limit, above, below, oldest_first, connection, time)
    return _by_milestones(asked) if connection.vendor == "sqlite" else _run_by_run(asked)


def hits(project: Project, words: str, *, limit: int, using: str | None = None) -> list[int]:
    """The newest matching runs, without a time limit; [] for an empty search."""
    return search(project, words, limit=limit, using=using, seconds=inf).numbers


def _by_milestones(asked: Search) -> Found:
    """Reads matches and milestones in order until there are enough or the time is up."""
    low, high = _span(asked.project, asked.above, asked.below)
    values = [fts5_query(asked.wanted, milestones=True), low, high - 1]  # not the one where it stopped
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
    """Checks the nearest runs one by one, as long as many of them match."""
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
        count = max(NEAR_RUNS, int(min(wanted, asked.capacity_for(count, since=began))))


def _part_by_part(asked: Search, size: int) -> Found:
    """Searches the rest by index. `size` is the number range that NEAR_RUNS runs span."""
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
        size = max(smallest, int(min(size * GROWTH, asked.capacity_for(size, since=began))))
    return Found(asked.numbers)


def _near_end(asked: Search, size: int) -> tuple[int, int]:
    """A range of `size` numbers at the near end, both ends exclusive."""
    if asked.oldest_first:
        return asked.above, min(asked.below, asked.above + size + 1)
    return max(asked.above, asked.below - size - 1), asked.below


def _span(project: Project, above: int, below: int) -> tuple[int, int]:
    """The ids in SQLite's index for texts of runs between the two; the second is exclusive."""
    start = project.pk << 48
    return start | (above + 1) << 16, start | below << 16


def rows(connection: Any, sql: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found
