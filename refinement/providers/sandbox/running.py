"""Runs a job: in a sandbox, or not at all unless the administrator allowed that."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import BoundedSemaphore

from refinement.providers.processes import Command, Ended, run_command
from refinement.providers.sandbox import bubblewrap
from refinement.providers.sandbox.jobs import Busy, CannotStart, Finished, Job, NoSandbox, Surroundings

LAUNCHER = Path(__file__).with_name("launcher.py")
REPORT_BYTES = 8_000
CLEANUP_SECONDS = 7.0  # for the launcher to end what the command started
# Each command may use a core: a worker's many threads must not start as many of them.
_places = BoundedSemaphore(max(1, os.cpu_count() or 1))


def run_job(job: Job, here: Surroundings, look: Callable[[], None]) -> Finished:
    """Runs the command to its end or its limit; `look` is called every moment and may raise to stop it.

    Raises Busy where as many commands run as there are cores, NoSandbox where there is no sandbox and none
    may be done without, and CannotStart where the program cannot be started.
    """
    if not _places.acquire(blocking=False):
        raise Busy
    try:
        if here.allow_unsafe and bubblewrap.sandbox_problem(here):
            return _run_unsafely(job, here, look)
        return _run_sandboxed(job, here, look)
    finally:
        _places.release()


def _run_sandboxed(job: Job, here: Surroundings, look: Callable[[], None]) -> Finished:
    program = shutil.which(bubblewrap.PROGRAM)
    if program is None:
        raise NoSandbox(f"bubblewrap is not installed. {bubblewrap.INSTALL}")
    with _text_file(job.text) as text, _report() as (reading, writing):
        options = bubblewrap.arguments(here, job.limits, network=job.network)
        inside, given = {}, job.text
        if job.file_name:
            inside, given = {"file": f"{bubblewrap.FOLDER}/{job.file_name}"}, ""
            options += ["--perms", "0644", "--file", str(text), inside["file"]]
        options += ["--json-status-fd", str(writing)]
        parts = [program, *options, "--", *Command(job.command).filled(inside)]
        command = _launched(job, parts, writing, folder="/", variables={}, passed=(text, writing))
        ended, seconds = _timed(command, given, look)
        report = _read(reading)
    if "exit-code" not in report and not _stopped(job, ended, report):
        raise _why_not_started(here, ended)
    return _finished(job, ended, report, seconds, open_to="")


def _why_not_started(here: Surroundings, ended: Ended) -> CannotStart:
    """bubblewrap runs nothing unless all of the sandbox is there: either that failed, or the program."""
    if problem := bubblewrap.sandbox_problem(here):
        return NoSandbox(f"{problem}. {bubblewrap.INSTALL}")
    return CannotStart(bubblewrap.last_line(ended.err).rpartition(": ")[2])


def _run_unsafely(job: Job, here: Surroundings, look: Callable[[], None]) -> Finished:
    with _folder() as folder, _report() as (reading, writing):
        inside, given = {}, job.text
        if job.file_name:
            file = Path(folder, job.file_name)
            file.write_text(job.text, encoding="utf-8", errors="replace", newline="")
            inside, given = {"file": str(file)}, ""
        if os.geteuid() == 0:  # the command will be nobody
            for path in (folder, *inside.values()):
                os.chown(path, bubblewrap.NOBODY, bubblewrap.NOBODY)
        parts = Command(job.command).filled(inside)
        variables = bubblewrap.variables(here, folder, folder)
        command = _launched(job, parts, writing, folder=folder, variables=variables, passed=(writing,))
        ended, seconds = _timed(command, given, look)
        report = _read(reading)
    if "error" in report:
        raise CannotStart(str(report["error"]))
    return _finished(job, ended, report, seconds, open_to="all")


def _launched(
    job: Job,
    parts: list[str],
    report: int,
    *,
    folder: str,
    variables: dict[str, str],
    passed: tuple[int, ...],
) -> Command:
    plan = {
        "command": parts,
        "sandboxed": Path(parts[0]).name == bubblewrap.PROGRAM,
        "parent": os.getpid(),
        "report": report,
        "seconds": job.seconds,
        "memory_bytes": job.limits.memory_bytes,
        "file_bytes": job.limits.file_bytes,
        "processes": job.limits.processes,
    }
    return Command(
        # Isolated: neither the folder nor a variable decides what the interpreter loads.
        parts=(sys.executable, "-I", "-S", str(LAUNCHER), json.dumps(plan)),
        folder=folder,
        output_bytes=job.limits.output_bytes,
        kept_bytes=job.limits.kept_bytes,
        variables=variables,
        passed=passed,
        seconds=job.seconds,
        cleanup_seconds=CLEANUP_SECONDS,
    )


def _timed(command: Command, given: str, look: Callable[[], None]) -> tuple[Ended, float]:
    began = time.monotonic()
    try:
        ended = run_command(command, given, look)
    except OSError as error:
        raise CannotStart(error.strerror or str(error)) from error
    return ended, time.monotonic() - began


def _finished(job: Job, ended: Ended, report: dict[str, object], seconds: float, open_to: str) -> Finished:
    stopped = _stopped(job, ended, report)
    return Finished(
        exit_code=None if stopped else ended.code,
        stopped=stopped,
        out=ended.out,
        err=ended.err,
        out_missing=ended.out_missing,
        err_missing=ended.err_missing,
        seconds=seconds,
        open_to=open_to,
    )


def _stopped(job: Job, ended: Ended, report: dict[str, object]) -> str:
    if ended.late:
        return f"was stopped after {job.seconds} second{'' if job.seconds == 1 else 's'}, its limit"
    if ended.too_long:
        return f"was stopped because it wrote more than {job.limits.output_bytes:,} bytes"
    return f"was stopped because it {report['stopped']}" if "stopped" in report else ""


@contextmanager
def _text_file(text: str) -> Iterator[int]:
    """The text in a file without a name; bubblewrap copies it into the sandbox."""
    with tempfile.TemporaryFile() as file:
        file.write(text.encode("utf-8", "replace"))
        file.seek(0)
        yield file.fileno()


@contextmanager
def _folder() -> Iterator[str]:
    """An empty folder for a job without a sandbox, removed with whatever it holds then."""
    folder = tempfile.mkdtemp(prefix="wiggum-evaluator-")
    try:
        yield folder
    finally:
        # Python's own way gives up on very deep folders.
        subprocess.run(["rm", "-rf", "--", folder], check=False, stderr=subprocess.DEVNULL)


@contextmanager
def _report() -> Iterator[tuple[int, int]]:
    """A pipe on which bubblewrap and the launcher say what happened."""
    ends = os.pipe()
    try:
        yield ends
    finally:
        for end in ends:
            os.close(end)


def _read(reading: int) -> dict[str, object]:
    os.set_blocking(reading, False)
    report: dict[str, object] = {}
    with suppress(BlockingIOError):
        for line in os.read(reading, REPORT_BYTES).splitlines():
            report |= json.loads(line)
    return report
