"""A progress line at the bottom of a terminal."""

import time
from types import TracebackType
from typing import Self, TextIO

SIGNS = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class StatusLine:
    """Redraws one line during an operation. Prints nothing to files and pipes."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.terminal = stream.isatty()
        self.began = time.monotonic()
        self.drawn = 0
        self.visible = False

    def show(self, message: str) -> None:
        if not self.terminal:
            return
        self.drawn += 1
        seconds = time.monotonic() - self.began
        self.stream.write(f"\r\x1b[K{SIGNS[self.drawn % len(SIGNS)]} {message} · {seconds:.0f} s")
        self.stream.flush()
        self.visible = True

    def clear(self) -> None:
        if self.visible:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self.visible = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()
