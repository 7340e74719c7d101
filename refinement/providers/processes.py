"""Runs a command on this machine in its own process group, within limits."""

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
STDERR_BYTES = 64_000  # its end is kept: that is where errors are
TAIL_CHARS = 600
PIECE = 65_536
ENDING_SECONDS = 0.01
# Commands do not get Wiggum's settings, which include secrets.
WITHHELD = frozenset({"SECRET_KEY", "DATABASE_URL", "DJANGO_SETTINGS_MODULE"})
WITHHELD_PREFIX = "WIGGUM_"


@dataclass(frozen=True, slots=True)
class Command:
    """A command to start: its arguments, or one string for a shell if `shell` is set."""

    parts: Sequence[str]
    folder: str = "."
    shell: bool = False
    output_bytes: int = OUTPUT_BYTES
    kept_bytes: int | None = None  # of each stream: its beginning and its end are kept, the rest is counted
    variables: Mapping[str, str] | None = None  # the whole environment; None passes on this process's
    passed: tuple[int, ...] = ()  # more file descriptors to pass on
    seconds: float | None = None  # the time limit; output until then is kept
    cleanup_seconds: float = 0.0  # between SIGTERM and SIGKILL, for a command that ends its own children

    @property
    def name(self) -> str:
        return self.parts[0] if self.shell else Path(self.parts[0]).name

    def arguments(self, values: Mapping[str, str]) -> list[str]:
        """The arguments to start it with, every {name} replaced by its value."""
        parts = [_with_values(part, values, quote=self.shell) for part in self.parts]
        return ["/bin/sh", "-c", parts[0]] if self.shell else parts

    def uses(self, name: str) -> bool:
        """Whether the command has the placeholder {name}."""
        return any(f"{{{name}}}" in part for part in self.parts)

    def problem(self) -> str:
        """Why the command cannot be started, as far as can be checked without starting it; or empty."""
        if not Path(self.folder).is_dir():
            return f"its folder {self.folder} does not exist"
        if self.shell:
            return ""
        first = self.parts[0]
        path = Path(self.folder, first) if "/" in first else shutil.which(first)
        if path is None or not Path(path).is_file():
            return "there is no such file, or no such command on the PATH"
        return "" if os.access(path, os.X_OK) else "the file is not executable (fix it with chmod +x)"


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended and what it wrote; `too_long` is set if the output exceeded its limit."""

    code: int
    out: str
    err: str
    too_long: bool = False
    out_missing: int = 0  # bytes that were read but not kept
    err_missing: int = 0
    late: bool = False  # it reached its time limit

    @property
    def tail(self) -> str:
        """The end of stderr, or of stdout if that is empty, on one line."""
        return " ".join((self.err.strip() or self.out.strip())[-TAIL_CHARS:].split())


@dataclass(slots=True)
class _Limited:
    """One stream's output: its beginning or its end, up to a limit."""

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
class _HeadAndTail:
    """One stream's output: its beginning and end, and its total length."""

    limit: int  # of bytes to read
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
        left = self.kept - self.kept // 2 - len(self.head)
        self.head += piece[:left]
        self.tail += piece[left:]
        if len(self.tail) > 4 * self.kept:  # not on every piece: each time moves the whole tail
            del self.tail[: -(self.kept // 2)]

    def text(self) -> str:
        end = bytes(self.tail[-(self.kept // 2) :])
        if not self.missing:
            return (bytes(self.head) + end).decode("utf-8", "replace")
        gap = f"\n[... {self.missing:,} bytes left out here ...]\n"
        return bytes(self.head).decode("utf-8", "replace") + gap + end.decode("utf-8", "replace")


def ignore_output(piece: bytes) -> None:
    """The default for `on_output`."""


def run_command(
    command: Command,
    text: str,
    check: Callable[[], None],
    values: Mapping[str, str] | None = None,
    on_output: Callable[[bytes], None] = ignore_output,
) -> CommandResult:
    """Runs the command with `text` as its stdin, and waits for its end or a limit.

    `check` is called a few times a second; an exception that it raises ends the command and is raised here.
    `values` replace the {name} placeholders in the command. `on_output` gets each piece of stdout and stderr
    as it is read. In every case, its whole process group is killed. Raises OSError if the command cannot be
    started.
    """
    with tempfile.TemporaryFile() as source:
        source.write(text.encode("utf-8", "replace"))
        source.seek(0)
        process = subprocess.Popen(
            command.arguments(values or {}),
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=command.folder,
            env=environment() if command.variables is None else dict(command.variables),
            pass_fds=command.passed,
            start_new_session=True,  # its own process group: its children end with it
        )
    try:
        return _wait_for(process, command, check, on_output)
    finally:
        _end_group(process, command.cleanup_seconds)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def environment() -> dict[str, str]:
    """This process's environment without Wiggum's settings."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in WITHHELD and not name.startswith(WITHHELD_PREFIX)
    }


def _wait_for(
    process: "subprocess.Popen[bytes]",
    command: Command,
    check: Callable[[], None],
    on_output: Callable[[bytes], None],
) -> CommandResult:
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
            check()
            if streams.get_map():
                _read(streams, CHECK_SECONDS, on_output)
            else:  # it closed both streams, so it is probably about to end
                time.sleep(ENDING_SECONDS)
            late = time.monotonic() > until
        _end_group(process, command.cleanup_seconds)
        while streams.get_map() and not _too_much(out, err) and _read(streams, 0, on_output):
            pass  # still in the pipes
    cut = _too_much(out, err)
    return CommandResult(process.returncode, out.text(), err.text(), cut, out.missing, err.missing, late)


def _streams(command: Command) -> tuple[_Limited | _HeadAndTail, _Limited | _HeadAndTail]:
    if command.kept_bytes is None:
        return _Limited(command.output_bytes), _Limited(STDERR_BYTES, keep_end=True)
    limit, kept = command.output_bytes, command.kept_bytes
    return _HeadAndTail(limit, kept), _HeadAndTail(limit, kept)


def _too_much(out: _Limited | _HeadAndTail, err: _Limited | _HeadAndTail) -> bool:
    """Whether a stream exceeded its limit. A user's own command may write any amount to stderr."""
    return out.over or (isinstance(err, _HeadAndTail) and err.over)


def _has_ended(process: "subprocess.Popen[bytes]") -> bool:
    """Checks without reaping: until it is reaped, its id, which is also its group's, is not reused."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _read(streams: selectors.BaseSelector, seconds: float, on_output: Callable[[bytes], None]) -> bool:
    """Reads the available output; False if there was none."""
    has_read = False
    for key, _ in streams.select(seconds):
        stream: IO[bytes] = key.fileobj  # type: ignore[assignment]
        piece = os.read(stream.fileno(), PIECE)
        if piece:
            key.data.add(piece)
            on_output(piece)
        else:
            streams.unregister(stream)
        has_read = True
    return has_read


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


def _with_values(part: str, values: Mapping[str, str], *, quote: bool) -> str:
    for name, value in values.items():
        part = part.replace(f"{{{name}}}", shlex.quote(value) if quote else value)
    return part
