"""A command that somebody else wrote down: run apart from everything, within limits, for its output alone.

Whether commands may be run at all is not decided here, and what runs on somebody's own machine at their own
wish (`command.py`, the scripts of evaluations) does not pass through here.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import BoundedSemaphore

from refinement.providers.confined_child import CANNOT_START, NOBODY
from refinement.providers.processes import Command, Ended, run_command
from refinement.providers.watch import SLICE_SECONDS

CHILD = Path(__file__).with_name("confined_child.py")
KEPT_BYTES = 32_000  # of each stream
MOST_BYTES = 20_000_000  # of a stream, before the command is stopped
FILE_BYTES = 64_000_000  # of a file that it writes
MEMORY_BYTES = 1_000_000_000  # of a process
PROCESSES = 128
REPORT_BYTES = 2_000
# Each command may take a core: a worker's many threads must not start as many of them.
_at_once = BoundedSemaphore(max(1, os.cpu_count() or 1))


class CannotStart(Exception):
    """The command is not there, or is none; nothing was run."""


@dataclass(frozen=True, slots=True)
class Job:
    """What to run, and what it is given: a file of this name where one is named, else its input."""

    command: Sequence[str]
    given: str
    seconds: int
    file_name: str = ""
    hidden: tuple[str, ...] = ()  # folders and files that it must not see


@dataclass(frozen=True, slots=True)
class Finished:
    """How it ended and what it wrote, bounded; `open_to` names what could not be shut off."""

    exit_code: int | None
    stopped: str
    out: str
    err: str
    out_missing: int
    err_missing: int
    seconds: float
    open_to: str  # nothing, files or all


def run_confined(job: Job, look: Callable[[], None]) -> Finished:
    """Runs it to its end or its limit; `look` is called every moment and may raise to stop it."""
    with _a_turn(look), _a_folder() as folder, _a_report() as (told, report):
        places: dict[str, str] = {}
        given = job.given
        if job.file_name:
            file = folder / job.file_name
            file.write_text(job.given, encoding="utf-8", errors="replace", newline="")
            places, given = {"file": str(file)}, ""
        if os.geteuid() == 0:  # the command will be nobody
            for path in (folder, *folder.iterdir()):
                os.chown(path, NOBODY, NOBODY)
        began = time.monotonic()
        try:
            ended = run_command(_command(job, folder, places, report), given, look)
        except OSError as error:
            raise CannotStart(error.strerror or str(error)) from error
        seconds, said = time.monotonic() - began, _read_report(told)
    stopped = _why_stopped(ended, job)
    if "error" in said or (not said and ended.code == CANNOT_START):
        raise CannotStart(str(said.get("error", "nothing is known of why")))
    return Finished(
        exit_code=None if stopped else _code(ended.code),
        stopped=stopped,
        out=ended.out,
        err=ended.err,
        out_missing=ended.out_missing,
        err_missing=ended.err_missing,
        seconds=seconds,
        open_to=str(said.get("open", "all")),
    )


def _why_stopped(ended: Ended, job: Job) -> str:
    if ended.late:
        return f"was stopped after {job.seconds} second{'' if job.seconds == 1 else 's'}, its limit"
    return f"was stopped because it wrote more than {MOST_BYTES:,} bytes" if ended.too_long else ""


def _command(job: Job, folder: Path, places: Mapping[str, str], report: int) -> Command:
    plan = {
        "command": Command(job.command).filled(places),
        "parent": os.getpid(),
        "report": report,
        "hidden": [path for path in job.hidden if not folder.is_relative_to(path)],
        "seconds": job.seconds,
        "memory_bytes": MEMORY_BYTES,
        "file_bytes": FILE_BYTES,
        "processes": PROCESSES,
    }
    return Command(
        # Isolated: neither this folder nor a variable decides what the interpreter loads.
        parts=(sys.executable, "-I", "-S", str(CHILD), json.dumps(plan)),
        folder=str(folder),
        output_bytes=MOST_BYTES,
        kept_bytes=KEPT_BYTES,
        variables=_variables(folder),
        passed=(report,),
        seconds=job.seconds,
    )


def _variables(folder: Path) -> Mapping[str, str]:
    """All that it learns of where it runs: no variable of ours but the way to the programs."""
    here = str(folder)
    return {"PATH": os.environ.get("PATH", os.defpath), "HOME": here, "TMPDIR": here, "LANG": "C.UTF-8"}


@contextmanager
def _a_turn(look: Callable[[], None]) -> Iterator[None]:
    while not _at_once.acquire(timeout=SLICE_SECONDS):
        look()
    try:
        yield
    finally:
        _at_once.release()


@contextmanager
def _a_folder() -> Iterator[Path]:
    """An empty folder of its own, which goes with it."""
    with tempfile.TemporaryDirectory(prefix="wiggum-evaluator-", ignore_cleanup_errors=True) as name:
        yield Path(name)


@contextmanager
def _a_report() -> Iterator[tuple[int, int]]:
    """A pipe on which the confined side tells what it could shut off, and why it could not start."""
    told, report = os.pipe()
    try:
        yield told, report
    finally:
        for end in (told, report):
            with suppress(OSError):
                os.close(end)


def _read_report(told: int) -> dict[str, object]:
    os.set_blocking(told, False)
    with suppress(BlockingIOError):
        said: dict[str, object] = {}
        for line in os.read(told, REPORT_BYTES).splitlines():
            said |= json.loads(line)
        return said
    return {}


def _code(code: int) -> int:
    """A signal's number as shells tell it, whichever of the two ways it came."""
    return code if code >= 0 else 128 - code
