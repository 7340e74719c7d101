"""Several calls of one step at once.

Only the network part of a call runs in a thread of its own. The step's thread prepares the calls and handles
the answers as they arrive, so it alone writes to the database.
"""

import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Self

from django.db import connections

from refinement.execution.calls import Caller, PreparedCall, Request, ignore_text
from refinement.execution.cancelling import lease_checks
from refinement.execution.slots import NoFreeSlot
from refinement.providers.base import CallControl, ProviderError, Reply

POLL_SECONDS = 0.2  # so that an interrupt of the worker reaches the waiting thread


@dataclass(frozen=True, slots=True)
class Arrived:
    """A call that is over: with a reply, or with the provider's error."""

    request: Request
    prepared: PreparedCall
    result: Reply | ProviderError


class CallGroup:
    """Makes calls at once, within the endpoints' limits; the rest follow as slots become free.

        with CallGroup(caller, slots) as group:
            group.add(request)
            for arrived in group.arrivals():
                ...  # may add further calls

    `slots` is how many calls each endpoint takes at once. Leaving the block cancels what is in progress.
    """

    def __init__(self, caller: Caller, slots: Mapping[str, int]) -> None:
        self._caller = caller
        self._slots = dict(slots)
        self._busy = dict.fromkeys(slots, 0)
        self._waiting: dict[str, deque[Request]] = {endpoint: deque() for endpoint in slots}
        self._arrived: SimpleQueue[tuple[Request, PreparedCall, Reply | BaseException]] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._closing = False
        self._held = ExitStack()

    def __enter__(self) -> Self:
        self._is_held = self._held.enter_context(lease_checks.using(self._caller.lease))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing = True
        for thread in self._threads:
            thread.join()
        self._held.close()

    def add(self, request: Request) -> None:
        """Makes the call as soon as its endpoint has a free slot."""
        endpoint, _ = self._caller.target(request.speaker)
        self._waiting[endpoint].append(request)
        self._start(endpoint)

    def arrivals(self) -> Iterator[Arrived]:
        """The calls in the order in which they end, until none is left.

        Raises Cancelled when the lease is lost or the worker stops, and unexpected errors.
        """
        while any(self._busy.values()):
            try:
                request, prepared, result = self._arrived.get(timeout=POLL_SECONDS)
            except Empty:
                continue
            endpoint = prepared.row.endpoint
            self._busy[endpoint] -= 1
            if not isinstance(result, (Reply, ProviderError)):
                raise result
            yield Arrived(request, prepared, result)
            self._start(endpoint)

    def needed(self, *more: str) -> dict[str, int]:
        """The slots still needed at each endpoint: for calls in progress or waiting, and for `more` calls."""
        wanted = {
            endpoint: busy + len(self._waiting[endpoint]) + more.count(endpoint)
            for endpoint, busy in self._busy.items()
        }
        return {endpoint: min(count, self._slots[endpoint]) for endpoint, count in wanted.items() if count}

    def _start(self, endpoint: str) -> None:
        while self._busy[endpoint] < self._slots[endpoint] and self._waiting[endpoint]:
            request = self._waiting[endpoint].popleft()
            prepared = self._caller.prepare(request)
            thread = threading.Thread(target=self._call, args=(request, prepared), daemon=True)
            self._busy[endpoint] += 1
            self._threads.append(thread)
            thread.start()

    def _call(self, request: Request, prepared: PreparedCall) -> None:
        result: Reply | BaseException
        try:
            control = self._closeable(self._caller.control(self._is_held, ignore_text))
            result = prepared.provider.complete(prepared.request, control)
        except BaseException as error:  # noqa: BLE001  raised again in the step's thread
            result = error
        finally:
            connections.close_all()  # a provider may have polled the lease from this thread
        self._arrived.put((request, prepared, result))

    def _closeable(self, control: CallControl) -> CallControl:
        held = control.is_cancelled
        return CallControl(control.deadline_seconds, lambda: self._closing or held(), control.on_text)


def slots_for(caller: Caller, requests: list[Request]) -> Mapping[str, int]:
    """The slots that these calls get at their endpoints; raises NoFreeSlot if none of them gets one."""
    wanted: dict[str, int] = {}
    for request in requests:
        endpoint, _ = caller.target(request.speaker)
        wanted[endpoint] = wanted.get(endpoint, 0) + 1
    granted = caller.take_slots(wanted)
    if not any(granted.values()):
        raise NoFreeSlot(next(iter(wanted)))
    return granted
