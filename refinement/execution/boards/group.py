"""Several calls of one step at once.

Only the network part of a call runs in a thread of its own. The step's thread prepares the calls and handles
the answers as they arrive, so it alone writes to the database: also what the judges have written so far.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Self

from refinement.execution.calls import Caller, PreparedCall, Request, ignore_text
from refinement.execution.cancelling import lease_checks
from refinement.execution.live_text import LiveWriter
from refinement.providers.base import CallControl, ProviderError, Reply

POLL_SECONDS = 0.2  # so that an interrupt of the worker reaches the waiting thread


@dataclass(frozen=True, slots=True)
class Arrived:
    """A call that is over: with a reply, or with the provider's error."""

    request: Request
    prepared: PreparedCall
    result: Reply | ProviderError


class CallGroup:
    """Makes calls at once. Leaving the block cancels those in progress.

    with CallGroup(caller) as group:
        group.start(request)
        for arrived in group.arrivals():
            ...  # may start further calls
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._busy: Counter[str] = Counter()  # calls in progress, by endpoint
        self._arrived: SimpleQueue[tuple[Request, PreparedCall, Reply | BaseException]] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._writers: dict[int, LiveWriter] = {}  # of the judges' texts in progress, by seat
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
        for writer in self._writers.values():
            writer.erase()
        self._held.close()

    def start(self, request: Request) -> None:
        """Makes the call in a thread of its own."""
        prepared = self._caller.prepare(request)
        on_text = ignore_text
        if seat := request.speaker.seat:
            self._writers[seat] = LiveWriter(self._caller.lease, ignore_text, seat)
            on_text = self._writers[seat].collect
        thread = threading.Thread(
            target=self._call, args=(request, prepared, on_text), daemon=True, name="board-call"
        )
        self._busy[prepared.row.endpoint] += 1
        self._threads.append(thread)
        thread.start()

    def arrivals(self) -> Iterator[Arrived]:
        """The calls in the order in which they end, until none is left.

        Raises Cancelled when the lease is lost or the worker stops, and unexpected errors.
        """
        while any(self._busy.values()):
            for each in self._writers.values():
                each.flush_if_due()
            try:
                request, prepared, result = self._arrived.get(timeout=POLL_SECONDS)
            except Empty:
                continue
            self._busy[prepared.row.endpoint] -= 1
            if done := self._writers.pop(request.speaker.seat, None):
                done.erase()
            if not isinstance(result, (Reply, ProviderError)):
                raise result
            yield Arrived(request, prepared, result)

    def slots(self, *more: str) -> dict[str, int]:
        """The slots in use at each endpoint: by the calls in progress, and by `more` calls that follow."""
        return {endpoint: count for endpoint, count in (self._busy + Counter(more)).items() if count > 0}

    def _call(self, request: Request, prepared: PreparedCall, on_text: Callable[[str], None]) -> None:
        result: Reply | BaseException
        try:
            result = prepared.provider.complete(prepared.request, self._control(on_text))
        except BaseException as error:  # noqa: BLE001  raised again in the step's thread
            result = error
        self._arrived.put((request, prepared, result))

    def _control(self, on_text: Callable[[str], None]) -> CallControl:
        """The call's control. Its own thread has no database connection: the watcher checks the lease."""
        control = self._caller.control(self._is_held, on_text)
        own = threading.get_ident()

        def is_cancelled() -> bool:
            return self._closing or (threading.get_ident() != own and control.is_cancelled())

        return CallControl(control.deadline_seconds, is_cancelled, control.on_text)
