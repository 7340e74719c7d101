"""Starts one job's command, enforces the limits of all its processes together, and kills what is left.

`running.py` starts this file in an isolated interpreter, so it imports nothing from this project. It is a
separate process because a worker has many threads: limits and accounts cannot be set safely between its fork
and exec. It writes lines of JSON to the report's file descriptor.
"""

import ctypes
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 4, 36, 38
KEYCTL = {"x86_64": 250, "aarch64": 219}
KEYCTL_JOIN_SESSION_KEYRING = 1
WATCHED = (signal.SIGCHLD, signal.SIGTERM)
TICK_SECONDS = 0.05
CLEANUP_SECONDS = 5.0
CANNOT_START = 127
NOBODY = 65_534
NICENESS = 10
IN_MEMORY = ("/memfd:", "/dev/zero", "/SYSV")

libc = ctypes.CDLL(None, use_errno=True)


def main(plan: dict[str, Any]) -> NoReturn:
    """Never returns: ends with the command's exit code."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # commands end with a killed worker
    if os.getppid() != plan["parent"]:
        os._exit(CANNOT_START)
    prctl(PR_SET_CHILD_SUBREAPER, 1)  # detached daemons become children of this process
    prctl(PR_SET_DUMPABLE, 0)
    join_new_keyring()
    signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    child = os.fork()
    if child == 0:
        exec_command(plan)
    code = watch(child, plan)
    end_children()
    os._exit(code)


def exec_command(plan: dict[str, Any]) -> NoReturn:
    """Replaces this process with the command, without root and within its limits."""
    try:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, WATCHED)
        os.nice(NICENESS)
        with suppress(OSError):  # if memory runs out, the job is killed first
            Path("/proc/self/oom_score_adj").write_text("1000")
        if os.geteuid() == 0:
            give_up_root()
        limit(plan)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of account clears it
        os.set_inheritable(plan["report"], plan["sandboxed"])
        os.execvp(plan["command"][0], plan["command"])
    except OSError as error:
        report(plan, error=error.strerror or str(error))
    os._exit(CANNOT_START)


def give_up_root() -> None:
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    prctl(PR_SET_DUMPABLE, 1)  # needed to write the map of its user namespace


def limit(plan: dict[str, Any]) -> None:
    memory = plan["memory_bytes"]
    # Programs reserve far more address space than they use, so RLIMIT_AS is only a generous upper bound.
    lower(resource.RLIMIT_DATA, memory)
    lower(resource.RLIMIT_AS, 8 * memory)
    lower(resource.RLIMIT_CPU, plan["seconds"] + 1)
    lower(resource.RLIMIT_FSIZE, plan["file_bytes"])
    lower(resource.RLIMIT_NOFILE, 256)
    lower(resource.RLIMIT_CORE, 0)
    # The system counts all threads of the account, including the worker's.
    lower(resource.RLIMIT_NPROC, plan["processes"] + threads_of_account())


def lower(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with suppress(ValueError, OSError):
        resource.setrlimit(kind, (value, value))


def threads_of_account() -> int:
    user, threads = os.geteuid(), 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if folder.stat().st_uid == user:
                threads += sum(1 for _ in (folder / "task").iterdir())
    return threads


def watch(child: int, plan: dict[str, Any]) -> int:
    """Waits until the command ends, SIGTERM arrives or a limit is exceeded; returns the exit code."""
    while True:
        received = signal.sigtimedwait(WATCHED, TICK_SECONDS)
        if received is not None and received.si_signo == signal.SIGTERM:
            return CANNOT_START
        code = reap(child)
        if code is not None:
            return code
        if problem := exceeded_limit(plan):
            report(plan, stopped=problem)
            return CANNOT_START


def reap(child: int) -> int | None:
    """Reaps all ended processes; returns the command's exit code if it was one of them."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return CANNOT_START
        if pid == 0:
            return None
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def exceeded_limit(plan: dict[str, Any]) -> str:
    """The message for the limit that the job's processes exceed; empty if there is none."""
    memory = threads = 0
    files: dict[tuple[int, int], int] = {}
    for pid in descendants(os.getpid()):
        with suppress(OSError, ValueError):
            status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
            memory += sum(int(status.get(name, "0").split()[0]) * 1024 for name in ("RssAnon", "RssShmem"))
            threads += int(status["Threads"])
        files |= memory_files(pid)
    if memory + sum(files.values()) > plan["memory_bytes"]:
        return f"used more than {plan['memory_bytes'] // 1_000_000:,} MB of memory"
    return f"started more than {plan['processes']} processes" if threads > plan["processes"] else ""


def memory_files(pid: int) -> dict[tuple[int, int], int]:
    """The sizes of open files that exist only in memory, which are not part of a process's own memory."""
    sizes = {}
    with suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                if str(link.readlink()).startswith(IN_MEMORY):
                    state = link.stat()
                    sizes[state.st_dev, state.st_ino] = state.st_blocks * 512
    return sizes


def descendants(pid: int) -> Iterator[int]:
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, children.read_text().split()):
                yield child
                yield from descendants(child)


def end_children() -> None:
    """Kills all descendants, repeatedly: children of a killed process become children of this one."""
    until = time.monotonic() + CLEANUP_SECONDS
    while time.monotonic() < until:
        for pid in list(descendants(os.getpid())):
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def join_new_keyring() -> None:
    """Gives the command its own session keyring, without the worker's keys."""
    number = KEYCTL.get(os.uname().machine)
    if number is not None:
        libc.syscall(number, KEYCTL_JOIN_SESSION_KEYRING, None)


def prctl(option: int, value: int) -> None:
    if hasattr(libc, "prctl"):
        libc.prctl(option, value, 0, 0, 0)


def report(plan: dict[str, Any], **values: str) -> None:
    os.write(plan["report"], json.dumps(values).encode() + b"\n")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
