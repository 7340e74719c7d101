"""The last line of a command's output while it runs, at most once a second."""

import time
from collections.abc import Callable

EVERY = 1.0  # seconds
LINE_CHARS = 200
KEPT_BYTES = 4_000


def ignore_line(line: str) -> None:
    """The default for `on_line`."""


class LastLine:
    """Passes the newest line on to `on_line`, if it is another one and the last was a second ago.

    Pieces are added as they are read. A line that is not ended yet counts, too: progress bars rewrite one
    line with carriage returns.
    """

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self.on_line = on_line
        self._end = bytearray()
        self._passed = ""
        self._at = float("-inf")

    def add(self, piece: bytes) -> None:
        self._end += piece[-KEPT_BYTES:]
        del self._end[:-KEPT_BYTES]

    def pass_on(self) -> None:
        """Called a few times a second."""
        now = time.monotonic()
        if now - self._at < EVERY:
            return
        line = self.text
        if line and line != self._passed:
            self._passed, self._at = line, now
            self.on_line(line)

    @property
    def text(self) -> str:
        """The last line that is not blank, cut to a length that fits on a page."""
        for line in reversed(self._end.replace(b"\r", b"\n").split(b"\n")):
            if line.strip():
                return line.decode("utf-8", "replace").strip()[:LINE_CHARS]
        return ""
