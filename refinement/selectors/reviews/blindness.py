"""Blind reviews: runs a user scores blind are hidden from them everywhere but on their scoring page.

So are the runs of texts that the user labels (`selectors.trust.labelling`).

Every selector that shows a project's runs starts from `shown_runs`. The project views set the hidden runs of
the current user; elsewhere, as in a worker, nothing is hidden.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from django.db.models import Model, QuerySet

from refinement.models import BlindReading, ExperimentRun, HumanScore, Project, Run, User
from refinement.selectors.trust.labelling import label_queues_of, queue_readers_of, queue_runs_of

_hidden: ContextVar[frozenset[int]] = ContextVar("hidden_runs", default=frozenset())
Row = TypeVar("Row", bound=Model)


def blind_runs_of(user: User, project: Project | None = None) -> dict[int, int]:
    """The runs this user scores or labels blind, each with the number of a round."""
    labelled = queue_runs_of(label_queues_of(user, project))
    return {run: number for run, (number, _) in labelled.items()} | own_readings(user, project)


def own_readings(user: User, project: Project | None = None) -> dict[int, int]:
    """The runs this user is scoring blind, each with the number of its current round."""
    rows = BlindReading.objects.filter(reader=user, ended_at__isnull=True)
    if project is not None:
        rows = rows.filter(run__project=project)
    return dict(rows.order_by("run_id").values_list("run", "round_number"))


def reads_blind(user: int, run_id: int) -> bool:
    """Whether this user scores or labels the run blind."""
    readings = BlindReading.objects.filter(reader=user, run=run_id, ended_at__isnull=True)
    return readings.exists() or user in queue_readers_of([run_id]).get(run_id, ())


def blind_readers_of(run_ids: Collection[int]) -> dict[int, set[int]]:
    """The users who score or label these runs blind, by run."""
    found = queue_readers_of(run_ids)
    rows = BlindReading.objects.filter(run__in=run_ids, ended_at__isnull=True)
    for run, reader in rows.values_list("run_id", "reader_id"):
        found.setdefault(run, set()).add(reader)
    return found


def not_blind_reason(run: Run, user: User) -> str:
    """Why this user's next score of the run cannot be blind; empty if it can."""
    ended = BlindReading.objects.filter(run=run, reader=user, ended_at__isnull=False).first()
    scored = HumanScore.objects.filter(run=run, author=user).exists()
    return not_blind_reason_for(ended, scored=scored)


def not_blind_reason_for(ended: BlindReading | None, *, scored: bool) -> str:
    """Like `not_blind_reason`, from rows already loaded."""
    if ended is not None and ended.given_up:
        return "You have seen this run's scores, so you can no longer score it blind."
    if ended is not None:
        return "You saw the scores of this run after scoring it, so your next score is not blind."
    if scored:
        return "You scored this run with its scores visible, so you can no longer score it blind."
    return ""


@contextmanager
def hiding(runs: Mapping[int, int]) -> Iterator[None]:
    """Hides these runs from selectors within the context."""
    token = _hidden.set(frozenset(runs))
    try:
        yield
    finally:
        _hidden.reset(token)


def hidden_runs() -> frozenset[int]:
    """The runs hidden in the current context."""
    return _hidden.get()


def without_hidden(rows: QuerySet[Row], run: str = "pk") -> QuerySet[Row]:
    """Excludes rows of hidden runs. `run` is the column with the run's id."""
    hidden = hidden_runs()
    return rows.exclude(**{f"{run}__in": hidden}) if hidden else rows


def blind_run_in(experiments: Collection[int], blind: Collection[int]) -> int | None:
    """The first of the `blind` runs that is part of these experiments: their figures would give it away."""
    if not blind:
        return None
    rows = ExperimentRun.objects.filter(experiment__in=experiments, run__in=blind)
    return rows.values_list("run_id", flat=True).order_by("run_id").first()


def shown_runs(project: Project) -> QuerySet[Run]:
    """The project's runs that are not hidden."""
    return without_hidden(Run.objects.filter(project=project))
