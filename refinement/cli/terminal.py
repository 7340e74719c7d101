"""A line at the bottom of a terminal that says what is going on; nothing where there is none."""

import time
from types import TracebackType
from typing import Self, TextIO

SIGNS = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class StatusLine:
    """Redraws one line while something goes on. Files and pipes get none of it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.terminal = stream.isatty()
        self.began = time.monotonic()
        self.drawn = 0
        self.there = False

    def show(self, words: str) -> None:
        if not self.terminal:
            return
        self.drawn += 1
        seconds = time.monotonic() - self.began
        self.stream.write(f"\r\x1b[K{SIGNS[self.drawn % len(SIGNS)]} {words} · {seconds:.0f} s")
        self.stream.flush()
        self.there = True

    def clear(self) -> None:
        if self.there:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self.there = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()
