"""Saves a reply piece by piece while the model writes it, and a command's last line, for live pages."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from django.db import transaction

from refinement.execution.leases import Lease
from refinement.execution.lost_connections import ignore_lost_connection
from refinement.models import LiveText, Run
from refinement.texts import storable

FLUSH_EVERY = 0.5  # seconds


class LiveWriter:
    """Collects a reply's text and saves it every half second. Saved pieces are never changed.

    `seat` is that of a board's judge, whose text another thread collects.
    """

    def __init__(self, lease: Lease[Run], on_text: Callable[[str], None], seat: int = 0) -> None:
        self.lease = lease
        self.on_text = on_text
        self.seat = seat
        self.arrived: deque[str] = deque()
        self.unsaved = ""
        self.position = 0
        self.flushed = 0.0

    def write(self, piece: str) -> None:
        self.collect(piece)
        self.flush_if_due()

    def collect(self, piece: str) -> None:
        """Keeps the piece until the next flush. Any thread can call it."""
        self.on_text(piece)
        if not self.flushed:
            self.flushed = time.monotonic()  # a reply that takes less than half a second needs no row
        self.arrived.append(piece)

    def flush_if_due(self) -> None:
        if (self.arrived or self.unsaved) and time.monotonic() - self.flushed >= FLUSH_EVERY:
            self.flush()

    def flush(self) -> None:
        while self.arrived:
            self.unsaved += self.arrived.popleft()
        text, position = storable(self.unsaved), self.position
        self.flushed = time.monotonic()
        # Counted first: if the connection is lost, the row may have been saved anyway.
        self.position += 1
        with ignore_lost_connection():
            LiveText.objects.create(
                run_id=self.lease.row.pk,
                attempt=self.lease.attempt,
                seat=self.seat,
                position=position,
                text=text,
            )
            self.unsaved = ""

    def erase(self) -> None:
        """Deletes the saved pieces of a judge: its reply is complete, or it is asked again."""
        if self.position:
            with ignore_lost_connection():
                LiveText.objects.filter(run_id=self.lease.row.pk, seat=self.seat).delete()


@contextmanager
def live_line(lease: Lease[Run]) -> Iterator[Callable[[str], None]]:
    """Yields a function to call with the last line of a command's output; it replaces the one before it."""
    run_id, attempt = lease.row.pk, lease.attempt
    position = count()

    def show(line: str) -> None:
        with ignore_lost_connection(), transaction.atomic():
            LiveText.objects.filter(run_id=run_id, attempt__lte=attempt).delete()
            LiveText.objects.create(run_id=run_id, attempt=attempt, position=next(position), text=line)

    try:
        yield show
    finally:
        if next(position):
            with ignore_lost_connection():
                LiveText.objects.filter(run_id=run_id, attempt__lte=attempt).delete()


@contextmanager
def live_text(lease: Lease[Run], on_text: Callable[[str], None]) -> Iterator[Callable[[str], None]]:
    """Yields a function to call with each piece of the reply; deletes saved pieces when the call ends."""
    writer = LiveWriter(lease, on_text)
    try:
        yield writer.write
    finally:
        if writer.position:
            with ignore_lost_connection():
                LiveText.objects.filter(run_id=lease.row.pk, attempt__lte=lease.attempt).delete()
