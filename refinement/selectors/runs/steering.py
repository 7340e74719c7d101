"""Instructions for a run: waiting for its next revision, and used ones."""

from dataclasses import dataclass

from refinement.engine import types as engine
from refinement.engine.sentences import round_name
from refinement.models import Event, EventKind, Instruction, Run, RunStatus

MOST_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Steering:
    """The instructions for the run page, newest first."""

    waiting: list[Instruction]
    used: list[tuple[Instruction, str]]  # with the round's name
    more: int  # used ones that are not shown

    @property
    def any(self) -> bool:
        return bool(self.waiting or self.used)


def instructions_waiting(run_id: int) -> tuple[engine.Instruction, ...]:
    """The instructions for the next revision, in order of submission."""
    waiting = Instruction.objects.filter(run=run_id, used_in_round=None, withdrawn_at=None).order_by("pk")
    return tuple(engine.Instruction(*row) for row in waiting.values_list("pk", "author_name", "text"))


def instructions_by_round(run: Run) -> dict[int, tuple[engine.Instruction, ...]]:
    """The instructions each round was written with."""
    found: dict[int, tuple[engine.Instruction, ...]] = {}
    rows = Instruction.objects.filter(run=run, used_in_round__isnull=False).order_by("id")
    for row in rows:
        given = engine.Instruction(row.pk, row.author_name, row.text)
        found[row.used_in_round or 0] = (*found.get(row.used_in_round or 0, ()), given)
    return found


def steering_of(run: Run) -> Steering:
    """One query."""
    rows = _newest(run.pk)
    waiting = [row for row in rows if row.used_in_round is None]
    used = [(row, round_name(row.used_in_round)) for row in rows if row.used_in_round is not None]
    return Steering(waiting, used[:MOST_SHOWN], max(0, len(rows) - MOST_SHOWN))


def _newest(run: int) -> list[Instruction]:
    return list(
        Instruction.objects.filter(run=run, withdrawn_at__isnull=True).order_by("-id")[: MOST_SHOWN + 1]
    )


def being_used(run: Run) -> frozenset[int]:
    """The instructions of the revision in progress; none if no worker holds the run."""
    if run.status != RunStatus.RUNNING or not run.lease_owner:
        return frozenset()
    newest = Event.objects.filter(run=run, kind=EventKind.CLAIMED).order_by("-id").first()
    return frozenset(newest.data.get("instructions", ())) if newest else frozenset()
