"""Keeps the web and worker processes running, and stops them on exit."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from time import monotonic
from types import FrameType

TICK_SECONDS = 0.1
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
STEADY_SECONDS = 30.0  # a process that ran this long is not in a crash loop
STOP_SECONDS = 12.0
PROBE_EVERY_SECONDS = 4.0
PROBE_FAILURES = 4  # in a row; with probes that time out after 3 s, a hung process is replaced in 15 to 19 s
PR_SET_PDEATHSIG = 1


def say(line: str) -> None:
    print(f"wiggum: {line}", file=sys.stderr, flush=True)


def die_with_parent(parent: int, number: int) -> None:
    """Ask Linux to signal this process when its parent ends for any reason."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:  # it has already ended
        os.kill(os.getpid(), number)


@dataclass(slots=True)
class Child:
    """A process to keep running, in a separate process group."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    orphan_signal: int = signal.SIGTERM  # sent when the supervisor is killed
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    start_at: float = 0.0
    pause: float = FIRST_PAUSE_SECONDS

    def start(self) -> None:
        supervisor, number = os.getpid(), self.orphan_signal
        self.started = monotonic()
        self.process = subprocess.Popen(
            self.command,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            process_group=0,  # Ctrl-C reaches only the supervisor, which then stops its children
            preexec_fn=lambda: die_with_parent(supervisor, number),  # safe: the supervisor has one thread
        )

    def tend(self) -> None:
        """Start the process if it is not running, with exponential backoff."""
        if self.process is None:
            if monotonic() >= self.start_at:
                self.start()
            return
        code = self.process.poll()
        if code is not None:
            self.restart(ending(code))

    def restart(self, reason: str) -> None:
        """Kill the process group, and schedule the next start."""
        assert self.process is not None
        self.signal(signal.SIGKILL)
        self.process.wait()
        if monotonic() - self.started >= STEADY_SECONDS:
            self.pause = FIRST_PAUSE_SECONDS
        say(f"the {self.name} process {reason}; restarting in {self.pause:g} s.")
        self.process = None
        self.start_at = monotonic() + self.pause
        self.pause = min(self.pause * 2, LONGEST_PAUSE_SECONDS)

    def signal(self, number: int) -> None:
        """Signal the process group, if it still exists."""
        if self.process is not None:
            try:
                os.killpg(self.process.pid, number)
            except (ProcessLookupError, PermissionError):
                return

    def ask_to_stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()

    def wait(self, until: float) -> None:
        """Wait for the process to end, and kill it on timeout."""
        if self.process is None:
            return
        try:
            self.process.wait(timeout=max(until - monotonic(), 0))
        except subprocess.TimeoutExpired:
            say(f"the {self.name} process does not stop; killing it.")
        self.signal(signal.SIGKILL)
        self.process.wait()


def ending(code: int) -> str:
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"exited with code {code}"


@dataclass(slots=True)
class Watchdog:
    """Restarts a child that runs but no longer responds to health checks.

    A process that has never responded is still starting, and is not restarted.
    """

    child: Child
    answers: Callable[[], bool]
    watched: subprocess.Popen[bytes] | None = None  # the process that the fields below belong to
    has_answered: bool = False
    failures: int = 0
    probe_at: float = 0.0

    def look(self) -> None:
        """Probe the child if a probe is due."""
        process = self.child.process
        if process is not self.watched:
            self.watched, self.has_answered, self.failures, self.probe_at = process, False, 0, 0.0
        if process is None or monotonic() < self.probe_at:
            return
        began = monotonic()
        if self.answers():
            self.has_answered, self.failures = True, 0
        elif self.has_answered:
            self.failures += 1
        if self.has_answered:  # until then, probe on every tick
            self.probe_at = began + PROBE_EVERY_SECONDS
        if self.failures >= PROBE_FAILURES:
            self.child.restart(f"failed {self.failures} health checks in a row and was killed")


@dataclass(slots=True)
class Supervisor:
    """Runs its children until it is stopped. Calls `on_ready` once, when `is_ready` returns True."""

    children: Sequence[Child]
    is_ready: Callable[[], bool]
    on_ready: Callable[[], None]
    watchdogs: Sequence[Watchdog] = ()
    stopping: Event = field(default_factory=Event)

    def run(self) -> None:
        """Return after SIGINT or SIGTERM, when every child has ended."""
        signal.signal(signal.SIGINT, self.stop)
        signal.signal(signal.SIGTERM, self.stop)
        announced = False
        try:
            while not self.stopping.is_set():
                for child in self.children:
                    child.tend()
                if not announced and self.is_ready():
                    announced = True
                    self.on_ready()
                for watchdog in self.watchdogs:
                    watchdog.look()
                self.stopping.wait(TICK_SECONDS)
        finally:
            self.stop_children()

    def stop(self, _signal: int, _frame: FrameType | None) -> None:
        self.stopping.set()

    def stop_children(self) -> None:
        for child in self.children:
            child.ask_to_stop()
        until = monotonic() + STOP_SECONDS
        for child in self.children:
            child.wait(until)
