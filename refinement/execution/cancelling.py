"""Checks which leases of this process are still held, with one query for all calls in progress."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from refinement.execution.leases import Lease, LeaseKey
from refinement.models.leased import Leased, WorkStatus

CHECK_EVERY = 0.25  # seconds


class LeaseChecks:
    """Checks that leases are still held: the work was not cancelled, paused or taken over."""

    def __init__(self) -> None:
        self._checking = Lock()
        self._in_use: set[Lease[Any]] = set()
        self._lost: set[LeaseKey] = set()
        self._checked = 0.0

    @contextmanager
    def using(self, lease: Lease[Any]) -> Iterator[Callable[[], bool]]:
        """Yields a function that returns whether the lease is held.

        Any thread may call it as often as it likes: the database is queried a few times a second at most.
        """
        self._in_use.add(lease)
        try:
            yield lambda: self._is_held(lease)
        finally:
            self._in_use.discard(lease)
            self._lost.discard(lease.key)

    def _is_held(self, lease: Lease[Any]) -> bool:
        # No thread waits for another one's query: a database that hangs blocks one call, not all of them.
        if time.monotonic() - self._checked >= CHECK_EVERY and self._checking.acquire(blocking=False):
            try:
                self._check()
            finally:
                self._checking.release()
        return lease.key not in self._lost

    def _check(self) -> None:
        by_model: dict[type[Leased], set[LeaseKey]] = defaultdict(set)
        for key in [lease.key for lease in self._in_use.copy()]:
            by_model[key[0]].add(key)
        self._lost = {key for model, keys in by_model.items() for key in lost_keys(model, keys)}
        self._checked = time.monotonic()


def lost_keys(model: type[Leased], keys: set[LeaseKey]) -> set[LeaseKey]:
    """The keys of leases that are no longer held.

    The owner decides, not the attempt: a step may be recorded while other calls of it are in progress.
    """
    running = model.objects.filter(pk__in=[pk for _, pk, _ in keys], status=WorkStatus.RUNNING)
    held = {(model, *values) for values in running.values_list("pk", "lease_owner")}
    return keys - held


lease_checks = LeaseChecks()
