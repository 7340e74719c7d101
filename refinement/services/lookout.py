"""One look at the database for all the runs that this process advances, in place of one for each of them."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from refinement.models import Run
from refinement.models.statements import rows_select
from refinement.services.leases import Lease

LOOK_EVERY = 0.3  # seconds; whoever waits asks every 0.4, so that a stop takes effect within a second
AS_HELD = f'SELECT "id", "lease_owner", "attempt" FROM "{Run._meta.db_table}" WHERE "status" = \'running\''  # noqa: S608


class Lookout:
    """Knows which of the leases in use are lost: cancelled, paused or taken over by somebody else."""

    def __init__(self) -> None:
        self._looking = Lock()
        self._watched: set[Lease] = set()
        self._lost: set[Lease] = set()
        self._looked = 0.0

    @contextmanager
    def watching(self, lease: Lease) -> Iterator[Callable[[], bool]]:
        """What to ask whether the lease still holds, as often as one likes."""
        self._watched.add(lease)
        try:
            yield lambda: self._holds(lease)
        finally:
            self._watched.discard(lease)
            self._lost.discard(lease)

    def _holds(self, lease: Lease) -> bool:
        # Nobody waits for another's look: a database that hangs holds up one call, not all of them.
        if time.monotonic() - self._looked >= LOOK_EVERY and self._looking.acquire(blocking=False):
            try:
                self._look()
            finally:
                self._looking.release()
        return lease not in self._lost

    def _look(self) -> None:
        watched = self._watched.copy()
        places = ", ".join(["%s"] * len(watched))
        numbers = sorted(lease.run_id for lease in watched)
        held = set(rows_select(f'{AS_HELD} AND "id" IN ({places})', numbers))
        self._lost = {lease for lease in watched if (lease.run_id, lease.owner, lease.attempt) not in held}
        self._looked = time.monotonic()


lookout = Lookout()
