"""One look at the database for all the runs that this process advances, in place of one for each of them."""

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread

from django.db import DatabaseError, InterfaceError, connection

from refinement.execution.leases import Lease
from refinement.models import Run, RunStatus
from refinement.providers.alarm import Alarm

LOOK_EVERY = 0.3  # seconds; whoever waits asks every 0.4, so that a stop takes effect within a second
OVERDUE_SECONDS = 1.5  # an attendant that has not looked for so long may hang: whoever waits looks again
STOP_SECONDS = 2.0


class Lookout:
    """Knows which of the leases in use are lost: cancelled, paused or taken over by somebody else.

    Whoever waits for a model asks now and then, and one of them looks for all. In a worker a thread does so
    and rings: the dozens that wait need not wake for it.
    """

    def __init__(self) -> None:
        self._looking = Lock()
        self._watched: set[Lease[Run]] = set()
        self._lost: set[Lease[Run]] = set()
        self._looked = 0.0
        self._alarms: dict[Lease[Run], Alarm] = {}
        self._attended = False
        self._wanted = Event()

    def alarm(self) -> Alarm | None:
        """For a call that is about to be made; None where nobody would ring it."""
        return Alarm() if self._attended else None

    @contextmanager
    def watching(self, lease: Lease[Run], alarm: Alarm | None = None) -> Iterator[Callable[[], bool]]:
        """What to ask whether the lease still holds, as often as one likes."""
        self._watched.add(lease)
        if alarm is not None:
            self._alarms[lease] = alarm
            self._wanted.set()
        try:
            yield lambda: self._holds(lease)
        finally:
            self._watched.discard(lease)
            self._lost.discard(lease)
            self._alarms.pop(lease, None)

    def _holds(self, lease: Lease[Run]) -> bool:
        patience = OVERDUE_SECONDS if self._attended else LOOK_EVERY
        # Nobody waits for another's look: a database that hangs holds up one call, not all of them.
        if time.monotonic() - self._looked >= patience and self._looking.acquire(blocking=False):
            try:
                self._look()
            finally:
                self._looking.release()
        return lease not in self._lost

    def _look(self) -> None:
        watched = self._watched.copy()
        held = leases_held({lease.row.pk for lease in watched})
        self._lost = {lease for lease in watched if (lease.row.pk, lease.owner, lease.attempt) not in held}
        self._looked = time.monotonic()

    @contextmanager
    def attended(self) -> Iterator[None]:
        """Meanwhile a thread of its own looks, and rings for whoever has lost a run."""
        stopping = Event()
        thread = Thread(target=self._attend, args=(stopping,), name="lookout", daemon=True)
        self._attended = True
        thread.start()
        try:
            yield
        finally:
            self._attended = False
            stopping.set()
            self._wanted.set()
            thread.join(STOP_SECONDS)

    def _attend(self, stopping: Event) -> None:
        while not stopping.wait(LOOK_EVERY):
            self._wanted.clear()
            if not self._alarms:
                self._wanted.wait()  # nobody is at work: there is nothing to look at until somebody is
                continue
            try:
                with self._looking:
                    self._look()
            except (DatabaseError, InterfaceError):
                connection.close()  # the next look has a new one
                continue
            for lease in self._lost.copy():
                if alarm := self._alarms.get(lease):
                    alarm.ring()
        connection.close()


def leases_held(run_ids: Collection[int]) -> set[tuple[int, str, int]]:
    """Run, owner and attempt of each of these runs that is held now."""
    running = Run.objects.filter(pk__in=run_ids, status=RunStatus.RUNNING)
    return set(running.values_list("pk", "lease_owner", "attempt"))


lookout = Lookout()
