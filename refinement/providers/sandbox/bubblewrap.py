"""The sandbox as arguments for bubblewrap, and whether it works on this machine."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from refinement.providers.sandbox.jobs import Limits, Surroundings

PROGRAM = "bwrap"
FOLDER = "/work"  # the job's own, inside
NOBODY = 65_534
PROBE_SECONDS = 10
SHARED_MEMORY_BYTES = 64_000_000
# Programs and libraries. Of Nix the store alone: its daemon's socket lies beside it.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store")
# What programs need to find libraries, certificates, accounts and the time zone. No keys, no other settings.
ETC = (
    *("alternatives", "ca-certificates", "group", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime"),
    *("mime.types", "nsswitch.conf", "passwd", "pki/tls/certs", "ssl/certs", "ssl/openssl.cnf", "timezone"),
)
NETWORK_ETC = ("hosts", "resolv.conf", "services")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
INSTALL = (
    "Install bubblewrap 0.8 or newer where the worker runs (package bubblewrap, program bwrap) and allow "
    "unprivileged user namespaces; `wiggum doctor` checks both. Or set "
    "WIGGUM_UNSAFE_COMMANDS_WITHOUT_SANDBOX=1 to run commands without a sandbox, with all that the worker's "
    "account may do."
)


def arguments(here: Surroundings, limits: Limits, *, network: bool) -> list[str]:
    """All of bubblewrap's options but those of one job's file and status."""
    return [
        *("--unshare-user", "--unshare-all", "--disable-userns"),
        *(("--share-net",) if network else ()),
        *("--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *("--uid", str(NOBODY), "--gid", str(NOBODY), "--hostname", "sandbox"),
        *_variables(here),
        *_system(),
        *(part for name in _etc(network) for part in ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")),
        *("--proc", "/proc", "--dev", "/dev"),
        *_empty("/dev/shm", SHARED_MEMORY_BYTES),  # noqa: S108  inside, a private one
        *_empty("/tmp", limits.disk_bytes),  # noqa: S108
        *("--symlink", "../tmp", "/var/tmp"),  # noqa: S108
        *_empty(FOLDER, limits.disk_bytes),
        *_files(here),
        # Last: these two hold the others, and without a size they would be half of the machine's memory.
        *("--remount-ro", "/dev", "--remount-ro", "/"),
        *("--chdir", FOLDER),
    ]


def sandbox_problem(here: Surroundings | None = None) -> str:
    """Why this machine offers no sandbox, in words; empty where it does. Starts one to find out."""
    program = shutil.which(PROGRAM)
    if program is None:
        return "bubblewrap is not installed"
    command = [program, *arguments(here or Surroundings(), Limits(), network=False), "true"]
    as_root = os.geteuid() == 0
    try:
        tried = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROBE_SECONDS,
            check=False,
            cwd="/",
            env={},
            # As in a real job, whose launcher gives up root.
            user=NOBODY if as_root else None,
            group=NOBODY if as_root else None,
            extra_groups=() if as_root else None,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"bubblewrap cannot be started ({error})"
    return "" if tried.returncode == 0 else f"bubblewrap does not work here ({last_line(tried.stderr)})"


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["it gave no reason"])[-1][:300]


def search_path(here: Surroundings) -> str:
    """Where programs are looked for: the readable folders' own `bin` first, then the system's."""
    own = [f"{path}/bin" for path in here.readable if Path(path, "bin").is_dir()]
    return ":".join([*own, PATH])


def _variables(here: Surroundings) -> Iterator[str]:
    yield "--clearenv"
    for name, value in variables(here, FOLDER, "/tmp").items():  # noqa: S108
        yield from ("--setenv", name, value)


def variables(here: Surroundings, folder: str, temporary: str) -> dict[str, str]:
    """A command's whole environment: nothing of the worker's own."""
    return {
        "PATH": search_path(here),
        "HOME": folder,
        "TMPDIR": temporary,
        "LANG": "C.UTF-8",
        "USER": "nobody",
        "LOGNAME": "nobody",
    }


def _system() -> Iterator[str]:
    for name in SYSTEM:
        path = Path(name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), name)
        elif path.is_dir():
            yield from ("--ro-bind", name, name)


def _etc(network: bool) -> Iterable[str]:
    return (*ETC, *NETWORK_ETC) if network else ETC


def _files(here: Surroundings) -> Iterator[str]:
    """Covers what is hidden where it lies in a folder of the system's, then shows what is readable."""
    covered = []
    for path in sorted({os.path.realpath(name) for name in here.hidden}):
        if not any(Path(name) in Path(path).parents for name in SYSTEM):
            continue  # not there anyway
        if Path(path).is_dir():
            covered.append(path)
            yield from ("--perms", "0555", "--size", "4096", "--tmpfs", path)
        elif Path(path).exists():
            yield from ("--ro-bind", os.devnull, path)
    for path in here.readable:
        if Path(path).exists():
            yield from ("--ro-bind", path, path)
    for path in covered:
        yield from ("--remount-ro", path)


def _empty(path: str, size: int) -> tuple[str, ...]:
    """A folder of its own, which goes with the sandbox and holds so much."""
    return ("--perms", "1777", "--size", str(size), "--tmpfs", path)


def own_paths() -> tuple[str, ...]:
    """The application, its virtual environment and the account's home, wherever they are."""
    application = Path(__file__).resolve().parents[3]
    environment = (sys.prefix,) if sys.prefix != sys.base_prefix else ()
    return (str(application), *environment, str(Path.home()))
