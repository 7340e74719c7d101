"""What a worker does after a step: it goes on with the run where nobody waits, and else sends for the next.

Going on, it writes the lease of the next step with the results of this one, and exchanges the message in its
hands for the next (`broker/passing.py`): a step is one transaction then. Rows stay the truth: whoever stops
the run raises its attempt, and who is lost leaves a lease to run out and a message that comes again.
"""

import copy
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from refinement.engine.steps import next_step
from refinement.engine.types import History, Judge, Revise, Step
from refinement.judging.context import Brief
from refinement.models import Event, EventKind, Run
from refinement.models.writes import Found, Writes
from refinement.selectors.history import account_of
from refinement.selectors.steering import ANY_WAITING
from refinement.services.events import event_values
from refinement.services.leases import (
    HELD,
    Lease,
    LeaseLost,
    held,
    kept,
    lease_after,
    lease_release,
    released,
)
from refinement.services.recollection import Kept, lease_keep, lease_kept, remember
from refinement.services.waking import run_may_pass_on, run_message, run_pass_on, run_wake

if TYPE_CHECKING:
    from dramatiq import Message

log = logging.getLogger("wiggum.steps")


@dataclass(frozen=True, slots=True)
class Ahead:
    """The run as a step leaves it, and what comes then."""

    run: Run
    brief: Brief
    history: History
    step: Step


def look_ahead(run: Run, change: dict[str, Any], brief: Brief | None, after: History | None) -> Ahead | None:
    """What the engine will say after the step, from the very rows that are about to be written."""
    if brief is None or after is None:
        return None
    run = changed(run, change)
    try:
        step = next_step(brief.rubric, replace(after, **account_of(run)))
    except Exception:
        # What was done is kept all the same; the step that cannot be decided fails by itself.
        log.exception("run=%s cannot be looked ahead of", run.pk)
        return None
    return Ahead(run, brief, after, step)


def changed(run: Run, change: dict[str, Any]) -> Run:
    """A copy with these values: Django's own way goes by that of a pickle."""
    made = Run.__new__(Run)
    made.__dict__ = {**run.__dict__, "_state": copy.copy(run._state), **change}  # noqa: SLF001
    return made


@dataclass(slots=True)
class GoingOn:
    """A step's writes, with what is needed to go on from them."""

    lease: Lease
    actor: str
    change: dict[str, Any]
    writes: Writes
    beside: Callable[[], None] | None
    ahead: Ahead | None  # None where it takes another reading to know
    message: "Message[Any]" = field(init=False)  # for the next step
    stays: bool = False
    tells: bool = False  # of the next step, unless that is left out

    def __post_init__(self) -> None:
        self.message = run_message(self.lease.run_id)

    def joined(self) -> bool:
        """Where messages are rows themselves: all in one transaction; False when the lease is lost."""
        return self.writes.make(self._beside_or_send, first=self._stay_or_let_go)

    def afterwards(self) -> bool:
        """Where a message can be sent only when the writes are made; False when the lease is lost."""
        self.stays = self.ahead is not None and run_may_pass_on(self.message)
        self._lead()
        if not self.writes.make(self.beside):
            return False
        # In this order: whoever gets the message may be a thread of this process.
        self._remember()
        if not (self.stays and self._passed_on()):
            run_wake(self.lease.run_id)
        return True

    def _stay_or_let_go(self) -> None:
        transaction.on_commit(self._remember)  # before the message is handed over, which is on commit as well
        self.stays = self.ahead is not None and run_pass_on(self.message)
        self._lead()

    def _beside_or_send(self) -> None:
        if self.beside is not None:
            self.beside()
        if not self.stays:
            run_wake(self.lease.run_id)

    def _lead(self) -> None:
        """Says what becomes of the run's own row: it is kept, or let go of."""
        now, change = timezone.now(), self.change
        lead = kept(self.lease, woken_at=now, **change) if self.stays else released(woken_at=now, **change)
        self.writes.lead(Run, lead, HELD, held(self.lease))
        if self.stays and self.ahead is not None:
            self._tell_of(self.ahead.step)

    def _tell_of(self, step: Step) -> None:
        """Says with the results of this step that the next has begun."""
        if isinstance(step, Judge):
            name, unless = "judge", None
        elif isinstance(step, Revise):
            # Where people have asked for something, it is begun later, with what they want by then.
            name, unless = "revise", Found(ANY_WAITING, [self.lease.run_id])
        else:
            return
        said = {"step": name, "round": step.round}
        begun = event_values(self.lease.run_id, EventKind.CLAIMED, actor=self.actor, data=said)
        self.writes.add(Event, begun, unless=unless)
        self.tells = True

    def _remember(self) -> None:
        if self.ahead is None:
            return
        remember(self.lease, self.ahead.brief, self.ahead.history)
        if self.stays:
            self.ahead.run.attempt = self.lease.attempt + 1
            told = self.tells and not self.writes.left_out
            lease_keep(Kept(lease_after(self.lease, self.ahead.run), told))

    def _passed_on(self) -> bool:
        """Whether the message is exchanged; else the lease is given back, for any worker to take the run."""
        try:
            if run_pass_on(self.message):
                return True
        except Exception:
            # As of a message that cannot be sent: the step is done, and the sweeper sends for the next.
            log.exception("run=%s could not be passed on", self.lease.run_id)
        unused = lease_kept(self.lease.run_id)
        try:
            if unused is not None:
                lease_release(unused.lease, woken_at=timezone.now())
        except LeaseLost:
            pass  # somebody has stopped the run or taken it over: they see to it
        return False
