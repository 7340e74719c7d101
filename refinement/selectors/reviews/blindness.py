"""What a person must not see yet: runs that they read blind are left out of everything but their own page.

Every selector that shows runs of a project starts from `shown_runs`. The door of the project's pages says
for whom a request is answered; without one, as in a worker, nothing is hidden.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from django.db.models import Model, QuerySet

from refinement.models import BlindReading, HumanScore, Project, Run, User

_hidden: ContextVar[frozenset[int]] = ContextVar("hidden_runs", default=frozenset())
Row = TypeVar("Row", bound=Model)


def blind_runs_of(user: User, project: Project | None = None) -> dict[int, int]:
    """The runs that this person reads blind now, each with the number of the round under way."""
    rows = BlindReading.objects.filter(reader=user, ended_at__isnull=True)
    if project is not None:
        rows = rows.filter(run__project=project)
    return dict(rows.order_by("run").values_list("run", "round_number"))


def blind_readers_of(run_ids: Collection[int]) -> dict[int, set[int]]:
    """Who reads these runs blind now, by run."""
    found: dict[int, set[int]] = {}
    rows = BlindReading.objects.filter(run__in=run_ids, ended_at__isnull=True)
    for run, reader in rows.values_list("run_id", "reader_id"):
        found.setdefault(run, set()).add(reader)
    return found


def seen_words(run: Run, user: User) -> str:
    """Why this person's next score of the run cannot be blind, as far as is known; empty where it can."""
    ended = BlindReading.objects.filter(run=run, reader=user, ended_at__isnull=False).first()
    scored = HumanScore.objects.filter(run=run, author=user).exists()
    return seen_words_for(ended, scored=scored)


def seen_words_for(ended: BlindReading | None, *, scored: bool) -> str:
    """The same, from a reading of theirs that ended and from whether they have scored the run."""
    if ended is not None and ended.given_up:
        return "You asked to be shown the scores of this run, so you can no longer score it blind."
    if ended is not None:
        return "You were shown the scores of this run after you scored it, so the next score is an open one."
    if scored:
        return "You scored this run with its scores in view, so you can no longer score it blind."
    return ""


@contextmanager
def hiding(runs: Mapping[int, int]) -> Iterator[None]:
    """While it lasts, selectors leave these runs out."""
    token = _hidden.set(frozenset(runs))
    try:
        yield
    finally:
        _hidden.reset(token)


def hidden_runs() -> frozenset[int]:
    """The runs that must not be shown now."""
    return _hidden.get()


def without_hidden(rows: QuerySet[Row], run: str = "pk") -> QuerySet[Row]:
    """The rows without those of hidden runs; `run` names the column that says whose they are."""
    hidden = hidden_runs()
    return rows.exclude(**{f"{run}__in": hidden}) if hidden else rows


def shown_runs(project: Project) -> QuerySet[Run]:
    """The project's runs that may be shown now."""
    return without_hidden(Run.objects.filter(project=project))
