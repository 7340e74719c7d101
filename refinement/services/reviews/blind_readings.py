"""Blind readings: while one is open, its reader sees no scores of the run."""

from collections.abc import Iterable

from django.db import IntegrityError, transaction
from django.utils import timezone

from refinement.models import BlindReading, Run, User
from refinement.selectors.reviews.blindness import not_blind_reason
from refinement.services.audit import audit_record


class ScoresSeen(Exception):
    """The user has already seen scores of this run, so they cannot score it blind."""


@transaction.atomic
def blind_reading_begin(*, run: Run, number: int, user: User) -> BlindReading:
    """Open a blind reading at a round, or move the open one there. Raises ScoresSeen."""
    existing = open_reading(run, user)
    if existing is not None:
        return blind_reading_move(reading=existing, number=number)
    if message := not_blind_reason(run, user):
        raise ScoresSeen(message)
    try:
        with transaction.atomic():
            reading = BlindReading.objects.create(run=run, reader=user, round_number=number)
    except IntegrityError:
        # Two tabs at once: both use the reading that was created first.
        return BlindReading.objects.get(run=run, reader=user, ended_at__isnull=True)
    _record("blind.begin", run, user, round=number)
    return reading


def blind_reading_move(*, reading: BlindReading, number: int) -> BlindReading:
    """Move the reading to another round of the run."""
    BlindReading.objects.filter(pk=reading.pk).update(round_number=number)
    reading.round_number = number
    return reading


@transaction.atomic
def blind_reading_give_up(*, run: Run, user: User) -> bool:
    """End the reading without a score. Return False if none was open."""
    rows = BlindReading.objects.filter(run=run, reader=user, ended_at__isnull=True)
    if not rows.update(ended_at=timezone.now(), given_up=True):
        return False
    _record("blind.give_up", run, user)
    return True


def blind_reading_end(*, reading: BlindReading) -> None:
    """End the reading after a score. The score writes the audit entry."""
    BlindReading.objects.filter(pk=reading.pk, ended_at__isnull=True).update(ended_at=timezone.now())


def scores_seen_record(*, runs: Iterable[Run], user: User) -> None:
    """Remember that the user opened these runs' scores: their later scores of them are not blind.

    Called by every page and endpoint that shows what the judge or people said of a run.
    """
    judged = [run for run in runs if run.r1 is not None and not run.is_example]
    if not judged:
        return
    known = set(BlindReading.objects.filter(run__in=judged, reader=user).values_list("run", flat=True))
    if new := [run for run in judged if run.pk not in known]:  # writing nothing would lock SQLite's database
        now = timezone.now()
        BlindReading.objects.bulk_create(
            BlindReading(run=run, reader=user, round_number=run.best_round or 1, ended_at=now, given_up=True)
            for run in new
        )


def open_reading(run: Run, user: User) -> BlindReading | None:
    """The user's open reading of the run, or None. Locked if a transaction is open."""
    rows = BlindReading.objects.filter(run=run, reader=user, ended_at__isnull=True)
    return rows.select_for_update().first() if transaction.get_connection().in_atomic_block else rows.first()


def _record(action: str, run: Run, user: User, **after: object) -> None:
    audit_record(
        action=action, object_type="run", object_id=run.pk, project=run.project, user=user, after=after
    )
