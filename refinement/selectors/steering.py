"""What people have told a run: what waits for its next revision, and what became of the rest."""

from dataclasses import dataclass

from refinement.engine import types as engine
from refinement.models import Event, EventKind, Instruction, Run, RunStatus
from refinement.models.statements import rows_select
from refinement.selectors.run_words import round_name_in

MOST_SHOWN = 50
# Asked before every revision, mostly in vain: as a plain statement it costs next to nothing.
OF_THOSE_THAT_WAIT = (
    f'FROM "{Instruction._meta.db_table}" '
    'WHERE "run_id" = %s AND "used_in_round" IS NULL AND "withdrawn_at" IS NULL'
)
WAITING = f'SELECT "id", "author_name", "text" {OF_THOSE_THAT_WAIT} ORDER BY "id"'
ANY_WAITING = f"SELECT 1 {OF_THOSE_THAT_WAIT}"


@dataclass(frozen=True, slots=True)
class Steering:
    """The instructions as the run's page shows them, the newest first."""

    waiting: list[Instruction]
    used: list[tuple[Instruction, str]]  # with the name of the round
    more: int  # used ones that are not shown

    @property
    def any(self) -> bool:
        return bool(self.waiting or self.used)


def instructions_waiting(run_id: int) -> tuple[engine.Instruction, ...]:
    """Those that the next revision is to have, in the order in which they were given."""
    return tuple(engine.Instruction(*row) for row in rows_select(WAITING, [run_id]))


def instructions_by_round(run: Run) -> dict[int, tuple[engine.Instruction, ...]]:
    """Those that each round was written with."""
    found: dict[int, tuple[engine.Instruction, ...]] = {}
    rows = Instruction.objects.filter(run=run, used_in_round__isnull=False).order_by("id")
    for row in rows:
        given = engine.Instruction(row.pk, row.author_name, row.text)
        found[row.used_in_round or 0] = (*found.get(row.used_in_round or 0, ()), given)
    return found


def steering_of(run: Run) -> Steering:
    """One query, however many there are."""
    rows = _newest(run.pk)
    waiting = [row for row in rows if row.used_in_round is None]
    used = [(row, round_name_in(run, row.used_in_round)) for row in rows if row.used_in_round is not None]
    return Steering(waiting, used[:MOST_SHOWN], max(0, len(rows) - MOST_SHOWN))


def _newest(run: int) -> list[Instruction]:
    return list(
        Instruction.objects.filter(run=run, withdrawn_at__isnull=True).order_by("-id")[: MOST_SHOWN + 1]
    )


def being_used(run: Run) -> frozenset[int]:
    """The instructions that the revision under way was begun with; none where nobody is at the run."""
    if run.status != RunStatus.RUNNING or not run.lease_owner:
        return frozenset()
    newest = Event.objects.filter(run=run, kind=EventKind.CLAIMED).order_by("-id").first()
    return frozenset(newest.data.get("instructions", ())) if newest else frozenset()
