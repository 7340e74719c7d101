"""A command to run in the sandbox, its limits, and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

MEGABYTE = 1_000_000


class CannotStart(Exception):
    """The command cannot be started; nothing was run."""


class NoSandbox(CannotStart):
    """This machine offers no sandbox, and running without one is not allowed; nothing was run."""


class Busy(Exception):
    """As many commands run already as this machine has cores; nothing was run."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Totals of one job, all its processes together, except `file_bytes`, which is for each file."""

    memory_bytes: int = 1_000 * MEGABYTE
    processes: int = 256  # threads count as well
    disk_bytes: int = 256 * MEGABYTE  # of its folder, and once more of /tmp; these live in memory
    file_bytes: int = 64 * MEGABYTE
    output_bytes: int = 20 * MEGABYTE  # of each stream
    kept_bytes: int = 32_000  # of each stream: its beginning and its end


@dataclass(frozen=True, slots=True)
class Job:
    """What to run. The text is put into a file if one is named, otherwise it is the standard input."""

    command: Sequence[str]
    text: str
    seconds: int
    file_name: str = ""
    network: bool = False
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.file_name != Path(self.file_name).name or self.file_name == "..":
            raise ValueError(f"{self.file_name!r} is not the plain name of a file")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the administrator of this machine decided.

    `readable` are files and folders that commands may read besides the system's programs; `hidden` are
    those that they must not see even if they lie among the system's programs.
    """

    readable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    allow_unsafe: bool = False  # run without a sandbox where there is none


@dataclass(frozen=True, slots=True)
class Finished:
    """How the command ended and what it wrote. `open_to` says what was not shut off: nothing, or "all"."""

    exit_code: int | None
    stopped: str
    out: str
    err: str
    out_missing: int
    err_missing: int
    seconds: float
    open_to: str
