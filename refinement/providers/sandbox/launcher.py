"""Starts one job's command, watches what all its processes use together, and ends what is left of it.

`running.py` starts it as a file, in an interpreter without our packages, and it imports none of them. It is
a process of its own because a worker has many threads: limits and accounts cannot be set safely between its
fork and exec. It writes lines of JSON to the report's descriptor.
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
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # a worker that is killed takes its commands along
    if os.getppid() != plan["parent"]:
        os._exit(CANNOT_START)
    prctl(PR_SET_CHILD_SUBREAPER, 1)  # daemons become children of this process, however they detach
    prctl(PR_SET_DUMPABLE, 0)
    join_new_keyring()
    signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    child = os.fork()
    if child == 0:
        become(plan)
    code = watch(child, plan)
    end_children()
    os._exit(code)


def become(plan: dict[str, Any]) -> NoReturn:
    """Turns this process into the command: without root, within the limits of one process."""
    try:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, WATCHED)
        os.nice(NICENESS)
        with suppress(OSError):  # where memory runs out, the job goes and not the worker or the database
            Path("/proc/self/oom_score_adj").write_text("1000")
        if os.geteuid() == 0:
            give_up_root()
        limit(plan)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of account clears it
        os.set_inheritable(plan["report"], plan["sandboxed"])
        os.execvp(plan["command"][0], plan["command"])
    except OSError as error:
        tell(plan, error=error.strerror or str(error))
    os._exit(CANNOT_START)


def give_up_root() -> None:
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    prctl(PR_SET_DUMPABLE, 1)  # or it could not write its own user namespace's map


def limit(plan: dict[str, Any]) -> None:
    memory = plan["memory_bytes"]
    # Programs reserve far more address space than they use; what they use is counted by the first.
    lower(resource.RLIMIT_DATA, memory)
    lower(resource.RLIMIT_AS, 8 * memory)
    lower(resource.RLIMIT_CPU, plan["seconds"] + 1)
    lower(resource.RLIMIT_FSIZE, plan["file_bytes"])
    lower(resource.RLIMIT_NOFILE, 256)
    lower(resource.RLIMIT_CORE, 0)
    # The system counts all that one account runs, the worker's own threads among it.
    lower(resource.RLIMIT_NPROC, plan["processes"] + threads_of_account())


def lower(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with suppress(ValueError, OSError):
        resource.setrlimit(kind, (value, value))


def threads_of_account() -> int:
    user, found = os.geteuid(), 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if folder.stat().st_uid == user:
                found += sum(1 for _ in (folder / "task").iterdir())
    return found


def watch(child: int, plan: dict[str, Any]) -> int:
    """Waits for the command's end, for a request to stop, or for a total that is exceeded."""
    while True:
        received = signal.sigtimedwait(WATCHED, TICK_SECONDS)
        if received is not None and received.si_signo == signal.SIGTERM:
            return CANNOT_START
        code = reap(child)
        if code is not None:
            return code
        if problem := excess(plan):
            tell(plan, stopped=problem)
            return CANNOT_START


def reap(child: int) -> int | None:
    """Takes note of every process that ended; the command's own exit code once it is among them."""
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


def excess(plan: dict[str, Any]) -> str:
    """Which total the job's processes exceed, in words."""
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
    """Bytes of open files that exist in memory only, which no process's own memory shows."""
    found = {}
    with suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                if str(link.readlink()).startswith(IN_MEMORY):
                    state = link.stat()
                    found[state.st_dev, state.st_ino] = state.st_blocks * 512
    return found


def descendants(pid: int) -> Iterator[int]:
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, children.read_text().split()):
                yield child
                yield from descendants(child)


def end_children() -> None:
    """Kills until none is left: each that dies hands its own children to this process."""
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
    """Keys that the command adds go with it, and those of the worker's session are not its own."""
    number = KEYCTL.get(os.uname().machine)
    if number is not None:
        libc.syscall(number, KEYCTL_JOIN_SESSION_KEYRING, None)


def prctl(option: int, value: int) -> None:
    if hasattr(libc, "prctl"):
        libc.prctl(option, value, 0, 0, 0)


def tell(plan: dict[str, Any], **words: str) -> None:
    os.write(plan["report"], json.dumps(words).encode() + b"\n")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
