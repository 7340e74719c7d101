"""A command of the caller's own machine: started in a group of its own, bounded, and ended as a group."""

import math
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from refinement.providers.cancelling import CHECK_SECONDS

OUTPUT_BYTES = 1_000_000
STDERR_BYTES = 64_000  # the end of it is what people read
TAIL_CHARS = 600
PIECE = 65_536
ENDING_SECONDS = 0.01
# Wiggum's own settings are not the command's business, its secrets least of all.
WITHHELD = frozenset({"SECRET_KEY", "DATABASE_URL", "DJANGO_SETTINGS_MODULE"})
WITHHELD_PREFIX = "WIGGUM_"


@dataclass(frozen=True, slots=True)
class Command:
    """What to start: the parts of a command, or one text for a shell if that was asked for."""

    parts: Sequence[str]
    folder: str = "."
    shell: bool = False
    output_bytes: int = OUTPUT_BYTES
    kept_bytes: int | None = None  # of each stream, its head and its tail; what lies between is counted
    variables: Mapping[str, str] | None = None  # in place of those that a caller's own command gets
    passed: tuple[int, ...] = ()  # descriptors that it is given besides the three
    seconds: float | None = None  # after which it is ended, and what it wrote until then is kept
    cleanup_seconds: float = 0.0  # between SIGTERM and SIGKILL, for a command that ends others itself

    @property
    def name(self) -> str:
        return self.parts[0] if self.shell else Path(self.parts[0]).name

    def filled(self, places: Mapping[str, str]) -> list[str]:
        """The arguments to start, with every {name} replaced by its value."""
        parts = [_filled(part, places, quote=self.shell) for part in self.parts]
        return ["/bin/sh", "-c", parts[0]] if self.shell else parts

    def asks_for(self, name: str) -> bool:
        return any(f"{{{name}}}" in part for part in self.parts)

    def problem(self) -> str:
        """Why the command cannot be started, as far as that can be told without starting it."""
        if not Path(self.folder).is_dir():
            return f"its folder {self.folder} is not there"
        if self.shell:
            return ""
        first = self.parts[0]
        there = Path(self.folder, first) if "/" in first else shutil.which(first)
        if there is None or not Path(there).is_file():
            return "there is no such file, or no such command on the PATH"
        return "" if os.access(there, os.X_OK) else "the file is not executable (chmod +x mends that)"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended; `out` is cut where it went beyond its limit, which `too_long` tells."""

    code: int
    out: str
    err: str
    too_long: bool = False
    out_missing: int = 0  # bytes that were read and not kept
    err_missing: int = 0
    late: bool = False

    @property
    def tail(self) -> str:
        """The end of what it said about itself, on one line."""
        return " ".join((self.err.strip() or self.out.strip())[-TAIL_CHARS:].split())


@dataclass(slots=True)
class _Taken:
    """What was read of one stream: its beginning, or its end, within a limit."""

    limit: int
    keep_end: bool = False
    data: bytearray = field(default_factory=bytearray)
    over: bool = False

    def add(self, piece: bytes) -> None:
        self.data += piece
        if len(self.data) > self.limit:
            self.over = True
            self.data = self.data[-self.limit :] if self.keep_end else self.data[: self.limit]

    @property
    def missing(self) -> int:
        return 0

    def text(self) -> str:
        return self.data.decode("utf-8", "replace")


@dataclass(slots=True)
class _Ends:
    """What was read of one stream: its head and its tail, and how much there was in all."""

    limit: int  # of bytes to be read at all
    kept: int
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)
    total: int = 0

    @property
    def over(self) -> bool:
        return self.total > self.limit

    @property
    def missing(self) -> int:
        return self.total - len(self.head) - min(len(self.tail), self.kept // 2)

    def add(self, piece: bytes) -> None:
        self.total += len(piece)
        room = self.kept - self.kept // 2 - len(self.head)
        self.head += piece[:room]
        self.tail += piece[room:]
        if len(self.tail) > 4 * self.kept:  # now and then, or every piece would move the whole of it
            del self.tail[: -(self.kept // 2)]

    def text(self) -> str:
        end = bytes(self.tail[-(self.kept // 2) :])
        if not self.missing:
            return (bytes(self.head) + end).decode("utf-8", "replace")
        gap = f"\n[... {self.missing:,} bytes left out here ...]\n"
        return bytes(self.head).decode("utf-8", "replace") + gap + end.decode("utf-8", "replace")


def run_command(
    command: Command, given: str, look: Callable[[], None], places: Mapping[str, str] | None = None
) -> Ended:
    """Runs the command with `given` as its input; `look` is called every moment and may raise to stop it.

    However it ends, nothing of its process group is left running. OSError when it cannot be started.
    """
    with tempfile.TemporaryFile() as source:
        source.write(given.encode("utf-8", "replace"))
        source.seek(0)
        process = subprocess.Popen(
            command.filled(places or {}),
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=command.folder,
            env=environment() if command.variables is None else dict(command.variables),
            pass_fds=command.passed,
            start_new_session=True,  # a group of its own, so that what it starts ends with it
        )
    try:
        return _followed(process, command, look)
    finally:
        _end_group(process, command.cleanup_seconds)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def environment() -> dict[str, str]:
    """What a command is given of this process's variables."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in WITHHELD and not name.startswith(WITHHELD_PREFIX)
    }


def _followed(process: "subprocess.Popen[bytes]", command: Command, look: Callable[[], None]) -> Ended:
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = _streams(command)
    until = math.inf if command.seconds is None else time.monotonic() + command.seconds
    late = False
    with selectors.DefaultSelector() as streams:
        for stream, taken in ((process.stdout, out), (process.stderr, err)):
            os.set_blocking(stream.fileno(), False)
            streams.register(stream, selectors.EVENT_READ, taken)
        while not _has_ended(process) and not _too_much(out, err) and not late:
            look()
            if streams.get_map():
                _read(streams, CHECK_SECONDS)
            else:  # it closed both streams: mostly it is about to end
                time.sleep(ENDING_SECONDS)
            late = time.monotonic() > until
        _end_group(process, command.cleanup_seconds)
        while streams.get_map() and not _too_much(out, err) and _read(streams, 0):  # still on its way
            pass
    cut = _too_much(out, err)
    return Ended(process.returncode, out.text(), err.text(), cut, out.missing, err.missing, late)


def _streams(command: Command) -> tuple[_Taken | _Ends, _Taken | _Ends]:
    if command.kept_bytes is None:
        return _Taken(command.output_bytes), _Taken(STDERR_BYTES, keep_end=True)
    limit, kept = command.output_bytes, command.kept_bytes
    return _Ends(limit, kept), _Ends(limit, kept)


def _too_much(out: _Taken | _Ends, err: _Taken | _Ends) -> bool:
    """A caller's own command may talk on stderr as much as it likes: its end is what is kept."""
    return out.over or (isinstance(err, _Ends) and err.over)


def _has_ended(process: "subprocess.Popen[bytes]") -> bool:
    """Without waiting for it: until then its number, which is its group's, belongs to nobody else."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _read(streams: selectors.BaseSelector, seconds: float) -> bool:
    """Takes what is there now; False when nothing was."""
    found = False
    for key, _ in streams.select(seconds):
        stream: IO[bytes] = key.fileobj  # type: ignore[assignment]
        piece = os.read(stream.fileno(), PIECE)
        if piece:
            key.data.add(piece)
        else:
            streams.unregister(stream)
        found = True
    return found


def _end_group(process: "subprocess.Popen[bytes]", cleanup_seconds: float) -> None:
    if process.returncode is None:
        if cleanup_seconds and not _has_ended(process):
            process.terminate()
            until = time.monotonic() + cleanup_seconds
            while not _has_ended(process) and time.monotonic() < until:
                time.sleep(ENDING_SECONDS)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _filled(part: str, places: Mapping[str, str], *, quote: bool) -> str:
    for name, value in places.items():
        part = part.replace(f"{{{name}}}", shlex.quote(value) if quote else value)
    return part
