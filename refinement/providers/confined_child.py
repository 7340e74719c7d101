"""Becomes a confined command: limits, no network, nothing to be seen of what others keep.

It is started as a file by `confined.py`, in an interpreter without our packages, and imports none of them.
The command is started by it and not by a function between fork and exec: a worker has many threads, and
such a function may hang.
"""

import ctypes
import json
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

CLONE_NEWNS, CLONE_NEWIPC = 0x00020000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
OURS = CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
MOST_CAPABILITIES = 64
CANNOT_START = 127
NOBODY = 65_534

libc = ctypes.CDLL(None, use_errno=True)


def main(plan: dict[str, Any]) -> NoReturn:
    """Never returns: ends as the command ends."""
    die_with_parent(plan["parent"])
    report = plan["report"]
    os.set_inheritable(report, False)
    if not stand_apart():
        tell(report, open="all")
        die_with_parent(plan["parent"])  # again: whoever changes accounts loses it
        become(plan)
    hidden = hide(plan["hidden"])
    tell(report, open="" if hidden else "files")
    die_with_parent(plan["parent"])
    first = os.fork()
    if first == 0:
        # Number 1 of its own world: when it ends, for whatever reason, all that was started in there does.
        die_with_parent(None)
        mounted("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
        command = os.fork()
        if command == 0:
            become(plan)
        os._exit(status_of(wait_for(command)))
    os._exit(status_of(wait_for(first)))


def stand_apart() -> bool:
    """Namespaces of its own: as the root that we are, or with one of users where the system lets us."""
    can = hasattr(libc, "unshare")
    if os.geteuid() == 0:
        if can and libc.unshare(OURS) == 0:
            return True
        become_nobody()
    user, group = os.geteuid(), os.getegid()
    if not can or libc.unshare(OURS | CLONE_NEWUSER) != 0:
        return False
    with suppress(OSError):
        written("/proc/self/setgroups", "deny")
        written("/proc/self/uid_map", f"{user} {user} 1")
        written("/proc/self/gid_map", f"{group} {group} 1")
    return True


def become_nobody() -> None:
    """Root's command is nobody: what root alone may read stays so, whatever else could not be shut off."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    if hasattr(libc, "prctl"):
        libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # or it could not write the map of its own users


def hide(paths: list[str]) -> bool:
    """Puts emptiness in the place of what is nobody's business in here; whether all of it is hidden."""
    done = mounted(None, "/", None, MS_REC | MS_PRIVATE)
    for path in paths:
        if Path(path).is_dir():
            bare = MS_NOSUID | MS_NODEV | MS_NOEXEC
            done = mounted("none", path, "tmpfs", bare, "size=64k,mode=755") and done
        elif Path(path).exists():
            done = mounted("/dev/null", path, None, MS_BIND) and done
    return done


def become(plan: dict[str, Any]) -> NoReturn:
    """The command itself, in the place of this program."""
    limit(plan)
    if hasattr(libc, "prctl"):
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        for capability in range(MOST_CAPABILITIES):
            libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # refused to those who have none
    if os.geteuid() == 0:
        become_nobody()
    try:
        os.execvpe(plan["command"][0], plan["command"], dict(os.environ))
    except OSError as error:
        tell(plan["report"], error=error.strerror or "it cannot be started")
    os._exit(CANNOT_START)


def limit(plan: dict[str, Any]) -> None:
    memory, seconds = plan["memory_bytes"], plan["seconds"]
    # Programs reserve much more than they use; what they use is counted by the first of the two.
    bounded(resource.RLIMIT_DATA, memory)
    bounded(resource.RLIMIT_AS, 8 * memory)
    bounded(resource.RLIMIT_CPU, seconds + 1)
    bounded(resource.RLIMIT_FSIZE, plan["file_bytes"])
    bounded(resource.RLIMIT_NOFILE, 256)
    bounded(resource.RLIMIT_CORE, 0)
    # The system counts all that one account runs, the worker's own threads among it.
    bounded(resource.RLIMIT_NPROC, plan["processes"] + running())


def bounded(kind: int, most: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = most if hard == resource.RLIM_INFINITY else min(most, hard)
    with suppress(ValueError, OSError):
        resource.setrlimit(kind, (value, value))


def running() -> int:
    """How many threads this account has now, as far as can be told."""
    user, found = os.geteuid() or NOBODY, 0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if folder.stat().st_uid == user:
                found += sum(1 for _ in (folder / "task").iterdir())
    return found


def die_with_parent(parent: int | None) -> None:
    """A worker that is killed takes its command along."""
    if hasattr(libc, "prctl"):
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if parent is not None and os.getppid() != parent:
            os._exit(CANNOT_START)


def wait_for(child: int) -> int:
    """The child's own end; others that come to us in here are taken as they come."""
    while True:
        ended, status = os.wait()
        if ended == child:
            return status


def status_of(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def mounted(source: str | None, target: str, kind: str | None, flags: int, options: str = "") -> bool:
    texts = [None if text is None else text.encode() for text in (source, target, kind)]
    return bool(libc.mount(*texts, ctypes.c_ulong(flags), options.encode()) == 0)


def written(path: str, text: str) -> None:
    Path(path).write_text(text)


def tell(report: int, **said: str) -> None:
    os.write(report, json.dumps(said).encode() + b"\n")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
