"""What a worker remembers of the runs it advanced, so that the next step need not read it all again.

Whoever takes a run raises its attempt by one, and so does whoever changes it from outside. A memory of
attempt n therefore serves attempt n + 1 and no other: in between, nobody else has been at the run.

A worker that goes on with a run has even its next lease already, written with the step before.
"""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field, replace

from refinement.engine.types import History
from refinement.judging.context import Brief
from refinement.models import Run
from refinement.models.statements import fields_read
from refinement.selectors.history import account_of, brief_of, history_of
from refinement.services.leases import KNOWN_AT_THE_START, RENEW_EVERY, Lease

MOST_RUNS = 128
MOST_CHARS = 500_000  # of a run's texts; longer ones are read anew each time


@dataclass(frozen=True, slots=True)
class Memory:
    attempt: int
    brief: Brief
    history: History


@dataclass(frozen=True, slots=True)
class Kept:
    """A lease written with the step before, and whether the next step's beginning was told there as well."""

    lease: Lease
    told: bool
    since: float = field(default_factory=time.monotonic)

    def is_fresh(self) -> bool:
        """Whether it cannot have run out; that somebody stopped the run is noticed while a model is asked."""
        return time.monotonic() - self.since < RENEW_EVERY.total_seconds()


_lock = threading.Lock()
_memories: OrderedDict[int, Memory] = OrderedDict()
_kept: dict[int, Kept] = {}


def recall(lease: Lease, run: Run) -> tuple[Brief, History]:
    """The run's brief and history: remembered where nobody else was at it since, read where somebody was."""
    with _lock:
        memory = _memories.pop(lease.run_id, None)
    if memory is None or memory.attempt + 1 != lease.attempt:
        if run.get_deferred_fields():
            fields_read(run, KNOWN_AT_THE_START)
        brief = brief_of(run)
        if lease.attempt == 1 and not run.seed and not run.calls_made:
            return brief, History(**account_of(run))  # nobody has been at it: there is nothing to read
        return brief, history_of(run, brief.rubric)
    return memory.brief, replace(memory.history, **account_of(run))


def remember(lease: Lease, brief: Brief, history: History) -> None:
    """Keeps what the step left behind, for the next one."""
    size = len(brief.task) + len(brief.seed) + sum(len(entry.candidate) for entry in history.rounds)
    if size > MOST_CHARS:
        return
    with _lock:
        _memories[lease.run_id] = Memory(lease.attempt, brief, history)
        _memories.move_to_end(lease.run_id)
        while len(_memories) > MOST_RUNS:
            _memories.popitem(last=False)


def lease_keep(kept: Kept) -> None:
    """For whichever thread of this process gets the message for the run's next step."""
    _kept[kept.lease.run_id] = kept
    if len(_kept) > MOST_RUNS:
        # Each has its message in this process; more of them than threads have lost theirs.
        for run_id, old in list(_kept.items()):
            if not old.is_fresh():
                _kept.pop(run_id, None)


def lease_kept(run_id: int) -> Kept | None:
    """The lease that was kept for the run's next step, once; None where there is none."""
    return _kept.pop(run_id, None)


def leases_kept() -> list[Kept]:
    """All that nobody has taken up: they are the caller's now."""
    return [kept for run_id in list(_kept) if (kept := _kept.pop(run_id, None)) is not None]
