"""Jobs for the sandbox: a command, its limits and its result."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

MEGABYTE = 1_000_000


class CannotStart(Exception):
    """The command cannot be started; nothing was run."""


class NoSandbox(CannotStart):
    """There is no sandbox on this machine, and running without one is not allowed; nothing was run."""


class Busy(Exception):
    """Every core of this machine already runs a command; nothing was run."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one job, for all its processes together; `file_bytes` is per file."""

    memory_bytes: int = 1_000 * MEGABYTE
    processes: int = 256  # including threads
    disk_bytes: int = 256 * MEGABYTE  # of its folder, and the same again of /tmp; both are in memory
    file_bytes: int = 64 * MEGABYTE
    output_bytes: int = 20 * MEGABYTE  # of each stream
    kept_bytes: int = 32_000  # of each stream: its beginning and its end


@dataclass(frozen=True, slots=True)
class Job:
    """A command to run. It gets `text` in a file if `file_name` is set, otherwise on stdin.

    Raises ValueError if `file_name` is not a plain file name.
    """

    command: Sequence[str]
    text: str
    seconds: int
    file_name: str = ""
    network: bool = False
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.file_name != Path(self.file_name).name or self.file_name == "..":
            raise ValueError(f"{self.file_name!r} is not a plain file name")


@dataclass(frozen=True, slots=True)
class SandboxConfig:
    """The administrator's settings for commands on this machine.

    `readable` are files and folders that commands may read in addition to the system's programs; `hidden`
    are hidden from them even inside the system's folders.
    """

    readable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    allow_unsafe: bool = False  # run without a sandbox if there is none


@dataclass(frozen=True, slots=True)
class JobResult:
    """How the command ended and what it wrote.

    `open_to` is "all" if it ran without a sandbox, and "network" if the sandbox let it use the network.
    """

    exit_code: int | None  # None if it was stopped
    stopped: str  # why it was stopped, or empty
    out: str
    err: str
    out_missing: int
    err_missing: int
    seconds: float
    open_to: str
