"""Keeps the web and the worker process running, and takes them along when it ends."""

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
STEADY_SECONDS = 30.0  # a process that lived this long has not been crashing
STOP_SECONDS = 12.0
PROBE_EVERY_SECONDS = 4.0
PROBE_FAILURES = 4  # in a row; with probes that time out after 3 s, a hung process is replaced in 15 to 19 s
PR_SET_PDEATHSIG = 1


def say(line: str) -> None:
    print(f"wiggum: {line}", file=sys.stderr, flush=True)


def die_with_parent(parent: int, number: int) -> None:
    """Asks Linux to send this process a signal when its parent ends, however that ends."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:  # it ended before we could ask
        os.kill(os.getpid(), number)


@dataclass(slots=True)
class Child:
    """One process to keep running, in a process group of its own."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    orphan_signal: int = signal.SIGTERM  # what it gets when the supervisor is killed
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
            process_group=0,  # Ctrl-C reaches the supervisor alone, which then stops them in order
            preexec_fn=lambda: die_with_parent(supervisor, number),  # safe: the supervisor has one thread
        )

    def tend(self) -> None:
        """Starts the process if it does not run, after a pause that grows while it keeps failing."""
        if self.process is None:
            if monotonic() >= self.start_at:
                self.start()
            return
        code = self.process.poll()
        if code is not None:
            self.restart(ending(code))

    def restart(self, reason: str) -> None:
        """Kills what is left of the process and its children, and schedules the next start."""
        assert self.process is not None
        self.signal(signal.SIGKILL)
        self.process.wait()
        if monotonic() - self.started >= STEADY_SECONDS:
            self.pause = FIRST_PAUSE_SECONDS
        say(f"the {self.name} process {reason}; starting it again in {self.pause:g} s.")
        self.process = None
        self.start_at = monotonic() + self.pause
        self.pause = min(self.pause * 2, LONGEST_PAUSE_SECONDS)

    def signal(self, number: int) -> None:
        """Signals the whole process group, if any of it is left."""
        if self.process is not None:
            try:
                os.killpg(self.process.pid, number)
            except (ProcessLookupError, PermissionError):
                return

    def ask_to_stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()

    def wait(self, until: float) -> None:
        """Waits for the end, and makes one when the time is up."""
        if self.process is None:
            return
        try:
            self.process.wait(timeout=max(until - monotonic(), 0))
        except subprocess.TimeoutExpired:
            say(f"the {self.name} process does not stop; ending it.")
        self.signal(signal.SIGKILL)
        self.process.wait()


def ending(code: int) -> str:
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


@dataclass(slots=True)
class Watchdog:
    """Restarts a child that runs but no longer answers.

    A process that has not answered yet is still starting and left alone, however long that takes.
    """

    child: Child
    answers: Callable[[], bool]
    watched: subprocess.Popen[bytes] | None = None  # the process that the figures below belong to
    has_answered: bool = False
    failures: int = 0
    probe_at: float = 0.0

    def look(self) -> None:
        """Probes the child when a probe is due."""
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
        if self.has_answered:  # until then every look is a probe: no answer is missed
            self.probe_at = began + PROBE_EVERY_SECONDS
        if self.failures >= PROBE_FAILURES:
            self.child.restart(f"did not answer {self.failures} health checks in a row and was killed")


@dataclass(slots=True)
class Supervisor:
    """Runs its children until it is told to stop; `is_ready` is asked until it says yes, once."""

    children: Sequence[Child]
    is_ready: Callable[[], bool]
    on_ready: Callable[[], None]
    watchdogs: Sequence[Watchdog] = ()
    stopping: Event = field(default_factory=Event)

    def run(self) -> None:
        """Returns after a SIGINT or SIGTERM, when every child has ended."""
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
