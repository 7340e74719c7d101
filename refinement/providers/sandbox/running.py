"""Runs a job in a sandbox, or without one if there is none and the administrator allowed that."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import BoundedSemaphore

from refinement.providers.processes import Command, CommandResult, run_command
from refinement.providers.sandbox import bubblewrap
from refinement.providers.sandbox.jobs import Busy, CannotStart, Job, JobResult, NoSandbox, SandboxConfig
from refinement.providers.sandbox.last_line import LastLine, ignore_line

LAUNCHER = Path(__file__).with_name("launcher.py")
REPORT_BYTES = 8_000
CLEANUP_SECONDS = 7.0  # for the launcher to kill the command's processes
# Each command may use a whole core, and a worker has many more threads than the machine has cores.
_slots = BoundedSemaphore(max(1, os.cpu_count() or 1))


def run_job(
    job: Job,
    config: SandboxConfig,
    check: Callable[[], None],
    on_line: Callable[[str], None] = ignore_line,
) -> JobResult:
    """Runs the command to its end or its limit, and returns its result.

    `check` is called a few times a second; an exception that it raises stops the command and is raised here.
    `on_line` gets the last line of output, at most once a second. No process of the command is left running.
    Raises Busy if every core already runs a command, NoSandbox if there is no sandbox and
    `config.allow_unsafe` is False, and CannotStart if the program cannot start.
    """
    if not _slots.acquire(blocking=False):
        raise Busy
    watch = Watch(check, LastLine(on_line))
    try:
        if config.allow_unsafe and bubblewrap.sandbox_problem(config):
            return _run_unsafely(job, config, watch)
        return _run_sandboxed(job, config, watch)
    finally:
        _slots.release()


@dataclass(frozen=True, slots=True)
class Watch:
    """What is done while the command runs."""

    check: Callable[[], None]
    line: LastLine

    def look(self) -> None:
        self.check()
        self.line.pass_on()


def _run_sandboxed(job: Job, config: SandboxConfig, watch: Watch) -> JobResult:
    program = shutil.which(bubblewrap.PROGRAM)
    if program is None:
        raise NoSandbox(f"bubblewrap is not installed. {bubblewrap.INSTALL}")
    with _text_file(job.text) as text, _report() as (reading, writing):
        options = bubblewrap.arguments(config, job.limits, network=job.network)
        inside, stdin = {}, job.text
        if job.file_name:
            inside, stdin = {"file": f"{bubblewrap.FOLDER}/{job.file_name}"}, ""
            options += ["--perms", "0644", "--file", str(text), inside["file"]]
        options += ["--json-status-fd", str(writing)]
        parts = [program, *options, "--", *Command(job.command).arguments(inside)]
        command = _launcher_command(job, parts, writing, folder="/", variables={}, passed=(text, writing))
        ended, seconds = _timed(command, stdin, watch)
        report = _read(reading)
    if "exit-code" not in report and not _stopped(job, ended, report):
        raise _start_error(config, ended)
    return _finished(job, ended, report, seconds, open_to="network" if job.network else "")


def _start_error(config: SandboxConfig, ended: CommandResult) -> CannotStart:
    """The error of a command that bubblewrap did not start: either the sandbox or the program failed."""
    if problem := bubblewrap.sandbox_problem(config):
        return NoSandbox(f"{problem}. {bubblewrap.INSTALL}")
    return CannotStart(bubblewrap.last_line(ended.err).rpartition(": ")[2])


def _run_unsafely(job: Job, config: SandboxConfig, watch: Watch) -> JobResult:
    with _folder() as folder, _report() as (reading, writing):
        inside, stdin = {}, job.text
        if job.file_name:
            file = Path(folder, job.file_name)
            file.write_text(job.text, encoding="utf-8", errors="replace", newline="")
            inside, stdin = {"file": str(file)}, ""
        if os.geteuid() == 0:  # the command runs as the account "nobody"
            for path in (folder, *inside.values()):
                os.chown(path, bubblewrap.NOBODY, bubblewrap.NOBODY)
        parts = Command(job.command).arguments(inside)
        variables = bubblewrap.variables(config, folder, folder)
        command = _launcher_command(
            job, parts, writing, folder=folder, variables=variables, passed=(writing,)
        )
        ended, seconds = _timed(command, stdin, watch)
        report = _read(reading)
    if "error" in report:
        raise CannotStart(str(report["error"]))
    return _finished(job, ended, report, seconds, open_to="all")


def _launcher_command(
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
        # Isolated: neither the folder nor the environment affects what the interpreter loads.
        parts=(sys.executable, "-I", "-S", str(LAUNCHER), json.dumps(plan)),
        folder=folder,
        output_bytes=job.limits.output_bytes,
        kept_bytes=job.limits.kept_bytes,
        variables=variables,
        passed=passed,
        seconds=job.seconds,
        cleanup_seconds=CLEANUP_SECONDS,
    )


def _timed(command: Command, stdin: str, watch: Watch) -> tuple[CommandResult, float]:
    began = time.monotonic()
    try:
        ended = run_command(command, stdin, watch.look, on_output=watch.line.add)
    except OSError as error:
        raise CannotStart(error.strerror or str(error)) from error
    return ended, time.monotonic() - began


def _finished(
    job: Job, ended: CommandResult, report: dict[str, object], seconds: float, open_to: str
) -> JobResult:
    stopped = _stopped(job, ended, report)
    return JobResult(
        exit_code=None if stopped else ended.code,
        stopped=stopped,
        out=ended.out,
        err=ended.err,
        out_missing=ended.out_missing,
        err_missing=ended.err_missing,
        seconds=seconds,
        open_to=open_to,
    )


def _stopped(job: Job, ended: CommandResult, report: dict[str, object]) -> str:
    if ended.late:
        return f"was stopped after {job.seconds} second{'' if job.seconds == 1 else 's'}, its limit"
    if ended.too_long:
        return f"was stopped because it wrote more than {job.limits.output_bytes:,} bytes"
    return f"was stopped because it {report['stopped']}" if "stopped" in report else ""


@contextmanager
def _text_file(text: str) -> Iterator[int]:
    """The descriptor of an unnamed file with the text; bubblewrap copies it into the sandbox."""
    with tempfile.TemporaryFile() as file:
        file.write(text.encode("utf-8", "replace"))
        file.seek(0)
        yield file.fileno()


@contextmanager
def _folder() -> Iterator[str]:
    """A temporary folder for a job without a sandbox."""
    folder = tempfile.mkdtemp(prefix="wiggum-evaluator-")
    try:
        yield folder
    finally:
        # shutil.rmtree fails on very deep folders.
        subprocess.run(["rm", "-rf", "--", folder], check=False, stderr=subprocess.DEVNULL)


@contextmanager
def _report() -> Iterator[tuple[int, int]]:
    """A pipe on which bubblewrap and the launcher report."""
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
