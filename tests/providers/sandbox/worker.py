"""A worker process that runs jobs one after the other and reports each result as a line of JSON.

It is started by a plain interpreter on a copy of the application, so that it can belong to any account.
"""

import ctypes
import json
import os
import struct
import sys

from refinement.providers.sandbox import CannotStart, Job, Limits, NoSandbox, SandboxConfig, run_job
from refinement.providers.sandbox.protection import close_to_own_account

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 38, 22
NAMESPACES = 0x7E020080  # all of clone's CLONE_NEW* flags
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06  # of the kernel's packet filters
ALLOW, FAIL, EPERM, ENOSYS = 0x7FFF0000, 0x00050000, 1, 38
CLONE, UNSHARE, SETNS, CLONE3 = {"x86_64": (56, 272, 308, 435), "aarch64": (220, 97, 268, 435)}[
    os.uname().machine
]
KEYCTL, SEARCH, SESSION_KEYRING, USER_KEYRING = (
    {"x86_64": 250, "aarch64": 219}[os.uname().machine],
    10,
    -3,
    -4,
)
LIMITS = Limits(memory_bytes=400_000_000, processes=100, disk_bytes=64_000_000)
libc = ctypes.CDLL(None, use_errno=True)


def forbid_namespaces() -> None:
    """Forbids new namespaces, as a container with the usual seccomp filter does."""
    program = [
        (LOAD, 0, 0, 0),  # 0: the number of the system call
        (EQUAL, 5, 0, UNSHARE),  # to 7
        (EQUAL, 4, 0, SETNS),  # to 7
        (EQUAL, 4, 0, CLONE3),  # to 8: its flags cannot be seen from here
        (EQUAL, 0, 4, CLONE),  # otherwise to 9
        (LOAD, 0, 0, 16),  # 5: its first argument
        (ANY_BIT, 0, 2, NAMESPACES),  # otherwise to 9
        (RETURN, 0, 0, FAIL | EPERM),  # 7
        (RETURN, 0, 0, FAIL | ENOSYS),  # 8
        (RETURN, 0, 0, ALLOW),  # 9
    ]
    code = b"".join(struct.pack("HBBI", *step) for step in program)
    buffer = ctypes.create_string_buffer(code)
    described = struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer))
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(PR_SET_SECCOMP, 2, ctypes.create_string_buffer(described), 0, 0) == 0


def kept_keys(name: str) -> int:
    rings = (SESSION_KEYRING, USER_KEYRING)
    return sum(libc.syscall(KEYCTL, SEARCH, ring, b"user", name.encode(), 0) > 0 for ring in rings)


def main(config: dict) -> None:
    if not config["namespaces"]:
        forbid_namespaces()
    close_to_own_account()
    here = SandboxConfig(allow_unsafe=config["unsafe"])
    for line in sys.stdin:
        attempt = json.loads(line)
        job = Job(attempt["command"], "the text", attempt["seconds"], "candidate.txt", limits=LIMITS)
        try:
            done = run_job(job, here, lambda: None)
            said = {"out": done.out, "err": done.err, "stopped": done.stopped, "open_to": done.open_to}
        except NoSandbox as refusal:
            said = {"refused": str(refusal)}
        except CannotStart as problem:
            said = {"problem": str(problem)}
        print(json.dumps(said | {"keys": kept_keys(attempt["marker"])}), flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
