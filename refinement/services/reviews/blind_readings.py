"""Reading a run blind: while a reading is open, nobody's scores of the run are shown to its reader."""

from django.db import IntegrityError, transaction
from django.utils import timezone

from refinement.models import BlindReading, Run, User
from refinement.selectors.reviews.blindness import not_blind_reason
from refinement.services.audit import audit_record


class ScoresSeen(Exception):
    """The person was shown scores of this run here before; the message says so."""


@transaction.atomic
def blind_reading_begin(*, run: Run, number: int, user: User) -> BlindReading:
    """Opens a reading, or goes on with the one that is open at another round."""
    found = open_reading(run, user)
    if found is not None:
        return blind_reading_move(reading=found, number=number)
    if words := not_blind_reason(run, user):
        raise ScoresSeen(words)
    try:
        with transaction.atomic():
            reading = BlindReading.objects.create(run=run, reader=user, round_number=number)
    except IntegrityError:
        # Two windows at once: both go on with the reading that was opened first.
        return BlindReading.objects.get(run=run, reader=user, ended_at__isnull=True)
    _record("blind.begin", run, user, round=number)
    return reading


def blind_reading_move(*, reading: BlindReading, number: int) -> BlindReading:
    """The reading at another round of the run."""
    BlindReading.objects.filter(pk=reading.pk).update(round_number=number)
    reading.round_number = number
    return reading


@transaction.atomic
def blind_reading_give_up(*, run: Run, user: User) -> bool:
    """Ends the reading by looking; whether there was one."""
    rows = BlindReading.objects.filter(run=run, reader=user, ended_at__isnull=True)
    if not rows.update(ended_at=timezone.now(), given_up=True):
        return False
    _record("blind.give_up", run, user)
    return True


def blind_reading_end(*, reading: BlindReading) -> None:
    """Ends the reading with a score; the score's own record tells of it."""
    BlindReading.objects.filter(pk=reading.pk, ended_at__isnull=True).update(ended_at=timezone.now())


def open_reading(run: Run, user: User) -> BlindReading | None:
    """The person's open reading of the run, held until the transaction ends where there is one."""
    rows = BlindReading.objects.filter(run=run, reader=user, ended_at__isnull=True)
    return rows.select_for_update().first() if transaction.get_connection().in_atomic_block else rows.first()


def _record(action: str, run: Run, user: User, **after: object) -> None:
    audit_record(
        action=action, object_type="run", object_id=run.pk, project=run.project, user=user, after=after
    )
