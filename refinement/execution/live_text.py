"""The reply under way, for those who watch: pieces are added now and then, never rewritten."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from refinement.execution.leases import Lease
from refinement.execution.lost_connections import replacing_lost_connection
from refinement.models import LiveText, Run
from refinement.texts import storable

FLUSH_EVERY = 0.5  # seconds


class LiveWriter:
    """Collects what a model writes and keeps it in pieces of half a second's worth."""

    def __init__(self, lease: Lease[Run], on_text: Callable[[str], None]) -> None:
        self.lease = lease
        self.on_text = on_text
        self.unsaved: list[str] = []
        self.position = 0
        self.flushed = 0.0

    def write(self, piece: str) -> None:
        self.on_text(piece)
        if not self.unsaved and not self.position:
            self.flushed = time.monotonic()  # a reply that is there in a moment is not worth a row
        self.unsaved.append(piece)
        if time.monotonic() - self.flushed >= FLUSH_EVERY:
            self.flush()

    def flush(self) -> None:
        text, position = storable("".join(self.unsaved)), self.position
        self.flushed = time.monotonic()
        # Counted first: a row whose connection broke off may be there all the same.
        self.position += 1
        with replacing_lost_connection():
            LiveText.objects.create(
                run_id=self.lease.row.pk, attempt=self.lease.attempt, position=position, text=text
            )
            self.unsaved = []


@contextmanager
def live_text(lease: Lease[Run], on_text: Callable[[str], None]) -> Iterator[Callable[[str], None]]:
    """What to call with each piece; what was kept of them goes when the reply is there, or fails."""
    writer = LiveWriter(lease, on_text)
    try:
        yield writer.write
    finally:
        if writer.position:
            with replacing_lost_connection():
                LiveText.objects.filter(run_id=lease.row.pk, attempt__lte=lease.attempt).delete()
