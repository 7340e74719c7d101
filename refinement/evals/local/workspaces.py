"""Copies the workspace of a case for its command and its scripts, and says what they changed."""

import difflib
import filecmp
import json
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from refinement.evals.types import Case, Step, Workspace
from refinement.judging.checks import LOCAL
from refinement.providers.processes import Command, environment, run_command

MOST_FILES = 5_000
MOST_BYTES = 200_000_000
MOST_DIFF = 200_000  # characters
SETUP_SECONDS = 600
HEAD_BYTES = 8_000


class WorkspaceError(ValueError):
    """A workspace cannot be made, with the reason."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The copy of one run, and the files as they were before it."""

    folder: Path
    before: Path

    def changes(self) -> str:
        """What was changed, as a unified diff. Files that are no text are only named."""
        names = sorted({*files_in(self.before), *files_in(self.folder)})
        pieces: list[str] = []
        for name in names:
            old, new = self.before / name, self.folder / name
            if old.is_file() and new.is_file() and filecmp.cmp(old, new, shallow=False):
                continue
            pieces.append(difference(name, old, new))
        return "".join(pieces)[:MOST_DIFF]


@dataclass(slots=True)
class Workspaces:
    """Makes the copies of one evaluation. The first case runs the commands that run only once."""

    is_stopped: Callable[[], bool] = bool  # whether setup commands must end
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _begun: dict[Step, "Future[None]"] = field(default_factory=dict)

    @contextmanager
    def opened(self, case: Case, *, is_command: bool) -> Iterator[Opened | None]:
        """The case's copy; None if nothing would use it. Raises WorkspaceError."""
        workspace = case.workspace
        if workspace is None or not (is_command or any(check.kind in LOCAL for check in case.checks)):
            yield None
            return
        with tempfile.TemporaryDirectory(prefix="wiggum-workspace-") as place:
            made = Opened(Path(place, "workspace").resolve(), Path(place, "before").resolve())
            self._fill(workspace, case, made)
            yield made

    def _fill(self, workspace: Workspace, case: Case, made: Opened) -> None:
        for step in workspace.before:
            self._once(step)
        if workspace.template is None:
            made.folder.mkdir()
        else:
            copy(workspace.template, made.folder)
        for step in workspace.setup:
            self._run(step, {"workspace_path": str(made.folder), "test_id": case.name})
        copy(made.folder, made.before)

    def _once(self, step: Step) -> None:
        with self._lock:
            found = self._begun.get(step)
            mine = found is None
            future = self._begun.setdefault(step, Future())
        if not mine:
            future.result()
            return
        try:
            self._run(step, {})
        except WorkspaceError as error:
            future.set_exception(error)
            raise
        future.set_result(None)

    def _run(self, step: Step, facts: dict[str, str]) -> None:
        """Runs a setup command, with the facts as JSON on stdin and as variables."""
        variables = environment() | {name.upper(): value for name, value in facts.items()}
        command = Command(step.command, str(step.folder), variables=variables, seconds=SETUP_SECONDS)
        try:
            ended = run_command(command, json.dumps(facts), self._check)
        except OSError as error:
            raise WorkspaceError(f"The setup command {command.name} cannot be started: {error}.") from error
        if ended.late:
            raise WorkspaceError(f"The setup command {command.name} took more than {SETUP_SECONDS} seconds.")
        if ended.code:
            raise WorkspaceError(
                f"The setup command {command.name} ended with status {ended.code}: {ended.tail}"
            )

    def _check(self) -> None:
        if self.is_stopped():
            raise WorkspaceError("The setup command was stopped.")


def copy(source: Path, wanted: Path) -> None:
    """Copies a folder without its links. Raises WorkspaceError if it is missing or too large."""
    if not source.is_dir():
        raise WorkspaceError(f"The workspace {source} is not a folder.")
    sizes = [(source / name).stat().st_size for name in files_in(source)]
    if len(sizes) > MOST_FILES or sum(sizes) > MOST_BYTES:
        limits = f"{MOST_FILES:,} files and {MOST_BYTES // 1_000_000} MB"
        raise WorkspaceError(f"The workspace {source} is too large. At most {limits} are copied.")
    try:
        shutil.copytree(source, wanted, ignore=links_in)
    except (OSError, shutil.Error) as error:
        raise WorkspaceError(f"The workspace {source} cannot be copied: {error}.") from error


def links_in(folder: str, names: list[str]) -> set[str]:
    return {name for name in names if Path(folder, name).is_symlink()}


def files_in(folder: Path) -> list[str]:
    """The names of the files, without links and without what git keeps."""
    paths = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    names = (path.relative_to(folder) for path in paths)
    return [str(name) for name in names if ".git" not in name.parts]


def difference(name: str, old: Path, new: Path) -> str:
    before, after = lines_of(old), lines_of(new)
    if before is None or after is None:
        return f"Binary file {name} differs\n"
    sources = (f"a/{name}" if old.is_file() else "/dev/null", f"b/{name}" if new.is_file() else "/dev/null")
    lines = difflib.unified_diff(before, after, *sources, lineterm="")
    return "".join(f"{line}\n" for line in lines)


def lines_of(path: Path) -> list[str] | None:
    """The file's lines; none if it is not there, None if it is no text."""
    if not path.is_file():
        return []
    data = path.read_bytes()
    return None if b"\0" in data[:HEAD_BYTES] else data.decode("utf-8", "replace").splitlines()
