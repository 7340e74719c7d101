"""The sandbox as bubblewrap arguments, and a check whether it works on this machine."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from refinement.providers.sandbox.jobs import Limits, SandboxConfig

PROGRAM = "bwrap"
FOLDER = "/work"  # the job's folder inside the sandbox
NOBODY = 65_534
PROBE_SECONDS = 10
SHARED_MEMORY_BYTES = 64_000_000
# Programs and libraries. Of /nix only the store: the daemon's socket is next to it.
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store")
# What programs need to find libraries, certificates, accounts and the time zone; no keys.
ETC = (
    *("alternatives", "ca-certificates", "group", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime"),
    *("mime.types", "nsswitch.conf", "passwd", "pki/tls/certs", "ssl/certs", "ssl/openssl.cnf", "timezone"),
)
NETWORK_ETC = ("hosts", "resolv.conf", "services")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
INSTALL = (
    "Install bubblewrap 0.8 or newer where the worker runs (package bubblewrap, program bwrap) and allow "
    "unprivileged user namespaces; `wiggum doctor` checks both. Or set "
    "WIGGUM_UNSAFE_COMMANDS_WITHOUT_SANDBOX=1 to run commands without a sandbox, with all permissions of the "
    "worker's account."
)


def arguments(config: SandboxConfig, limits: Limits, *, network: bool) -> list[str]:
    """bubblewrap's options, except those for one job's file and status."""
    return [
        *("--unshare-user", "--unshare-all", "--disable-userns"),
        *(("--share-net",) if network else ()),
        *("--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *("--uid", str(NOBODY), "--gid", str(NOBODY), "--hostname", "sandbox"),
        *_variables(config),
        *_system(),
        *(part for name in _etc(network) for part in ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")),
        *("--proc", "/proc", "--dev", "/dev"),
        *_empty("/dev/shm", SHARED_MEMORY_BYTES),  # noqa: S108  inside, a private one
        *_empty("/tmp", limits.disk_bytes),  # noqa: S108
        *("--symlink", "../tmp", "/var/tmp"),  # noqa: S108
        *_empty(FOLDER, limits.disk_bytes),
        *_files(config),
        # Last, because they contain the others; without a size limit they could fill half of the memory.
        *("--remount-ro", "/dev", "--remount-ro", "/"),
        *("--chdir", FOLDER),
    ]


def sandbox_problem(config: SandboxConfig | None = None) -> str:
    """Why the sandbox does not work on this machine; empty if it does. Starts one to find out."""
    program = shutil.which(PROGRAM)
    if program is None:
        return "bubblewrap is not installed"
    command = [program, *arguments(config or SandboxConfig(), Limits(), network=False), "true"]
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
    return (text.strip().splitlines() or ["no reason given"])[-1][:300]


def search_path(config: SandboxConfig) -> str:
    """The PATH of commands: the `bin` folders of readable folders first, then the system's."""
    own = [f"{path}/bin" for path in config.readable if Path(path, "bin").is_dir()]
    return ":".join([*own, PATH])


def _variables(config: SandboxConfig) -> Iterator[str]:
    yield "--clearenv"
    for name, value in variables(config, FOLDER, "/tmp").items():  # noqa: S108
        yield from ("--setenv", name, value)


def variables(config: SandboxConfig, folder: str, temporary: str) -> dict[str, str]:
    """A command's whole environment; nothing is inherited from the worker."""
    return {
        "PATH": search_path(config),
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


def _files(config: SandboxConfig) -> Iterator[str]:
    """Covers hidden paths inside the system's folders, then mounts readable ones."""
    covered = []
    for path in sorted({os.path.realpath(name) for name in config.hidden}):
        if not any(Path(name) in Path(path).parents for name in SYSTEM):
            continue  # not in the sandbox anyway
        if Path(path).is_dir():
            covered.append(path)
            yield from ("--perms", "0555", "--size", "4096", "--tmpfs", path)
        elif Path(path).exists():
            yield from ("--ro-bind", os.devnull, path)
    for path in config.readable:
        if Path(path).exists():
            yield from ("--ro-bind", path, path)
    for path in covered:
        yield from ("--remount-ro", path)


def _empty(path: str, size: int) -> tuple[str, ...]:
    """An empty folder of limited size that exists only in this sandbox."""
    return ("--perms", "1777", "--size", str(size), "--tmpfs", path)


def own_paths() -> tuple[str, ...]:
    """The paths of the application, its virtual environment and the account's home."""
    application = Path(__file__).resolve().parents[3]
    environment = (sys.prefix,) if sys.prefix != sys.base_prefix else ()
    return (str(application), *environment, str(Path.home()))
