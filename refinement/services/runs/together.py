"""Pause, resume and cancel the runs of an experiment in one transaction, with a few queries for all of them.

Each run is changed as `lifecycle` changes one. The caller holds the experiment's lock and writes one entry to
the audit log.
"""

from collections.abc import Sequence

from django.db.models import F, Max, QuerySet
from django.utils import timezone

from refinement.engine.types import Outcome, StopReason
from refinement.execution.events import actor_name
from refinement.execution.waking import wake
from refinement.models import Event, EventKind, LiveText, Run, RunStatus, User
from refinement.services.runs.lifecycle import GOING, RELEASED
from refinement.services.runs.log import log_run_ended


def runs_pause(runs: QuerySet[Run], user: User | None) -> list[Run]:
    """Pause the unfinished runs among these; returns those that were not paused already."""
    rows = lock(runs.filter(status__in=GOING))
    change(rows, status=RunStatus.PAUSED)
    clear_live_text(rows)
    events_record(rows, EventKind.PAUSED, user)
    return rows


def runs_resume(runs: QuerySet[Run], user: User | None) -> list[Run]:
    """Resume the paused runs among these, without those that wait for a person's decision."""
    rows = lock(runs.filter(status=RunStatus.PAUSED, plateau_asked=False))
    now = timezone.now()
    pauses = Event.objects.filter(run__in=rows, kind=EventKind.PAUSED).order_by()
    since = dict(pauses.values("run").annotate(at=Max("at")).values_list("run", "at"))
    for row in rows:
        row.idle_seconds += max(0, round((now - since.get(row.pk, now)).total_seconds()))
    Run.objects.bulk_update(rows, ["idle_seconds"])
    change(rows, status=RunStatus.QUEUED, woken_at=now, crashes=0)
    events_record(rows, EventKind.RESUMED, user)
    for row in rows:
        wake(Run, row.pk)
    return rows


def runs_cancel(runs: QuerySet[Run], user: User | None) -> list[Run]:
    """Cancel the unfinished runs among these; workers stop within a second. Returns them as they are now."""
    rows = lock(runs.filter(status__in=(*GOING, RunStatus.PAUSED)))
    why = f"Stopped by {actor_name(user)} with its experiment."
    change(
        rows,
        status=RunStatus.FINISHED,
        outcome=Outcome.CANCELLED,
        stop_reason=StopReason.CANCELLED,
        why=why,
        finished_at=timezone.now(),
        plateau_asked=False,
    )
    clear_live_text(rows)
    about = {"outcome": Outcome.CANCELLED, "reason": StopReason.CANCELLED, "why": why}
    events_record(rows, EventKind.STOPPED, user, **about)
    ended = list(Run.objects.filter(pk__in=keys(rows)))
    for row in ended:
        log_run_ended(row)
    return ended


def lock(runs: QuerySet[Run]) -> list[Run]:
    """The runs, locked in the order of their keys until the transaction ends."""
    rows = runs.select_for_update(of=("self",)).order_by("pk")
    return list(rows.only("status", "idle_seconds"))


def change(rows: Sequence[Run], **fields: object) -> None:
    """Updates the locked runs, so that no worker holds them any more."""
    Run.objects.filter(pk__in=keys(rows)).update(**{**RELEASED, **fields}, attempt=F("attempt") + 1)


def clear_live_text(rows: Sequence[Run]) -> None:
    LiveText.objects.filter(run__in=keys(rows)).delete()


def events_record(rows: Sequence[Run], kind: str, user: User | None, **about: object) -> None:
    name = actor_name(user)[:120]
    Event.objects.bulk_create(
        Event(run_id=row.pk, kind=kind, actor=name, user=user, data=dict(about)) for row in rows
    )


def keys(rows: Sequence[Run]) -> list[int]:
    return [row.pk for row in rows]
