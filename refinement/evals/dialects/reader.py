"""What the readers of one file share: its log, its folder, its dialect and the environment."""

import glob
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from refinement.evals.dialects.log import Log
from refinement.evals.dialects.templates import Names, Unfillable, fill
from refinement.evals.filling import FILE, Unreadable, file_text
from refinement.evals.sources.json_tree import json_lines, json_tree
from refinement.evals.sources.yaml_tree import yaml_tree
from refinement.evals.types import Dialect
from refinement.interchange.imports.fields import Missing
from refinement.interchange.rubrics.yaml_reading import BadFile, Node

MOST_FILES = 500
REPOSITORY = ".git"
OWN_SETTINGS = "WIGGUM_"
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".svg", ".ico", ".tiff")
MEDIA = (".mp3", ".wav", ".ogg", ".m4a", ".flac", ".mp4", ".webm", ".mov", ".avi", ".pdf")
CODE = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".py", ".rb")
UNDEFINED = "It has no value, so it is empty."


def environment() -> dict[str, object]:
    """The caller's environment for templates, without Wiggum's own settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith(OWN_SETTINGS)}


@dataclass(slots=True)
class Reader:
    """The state of reading one eval file."""

    log: Log
    path: Path
    dialect: Dialect
    env: Mapping[str, object] = field(default_factory=environment)
    own_targets: bool = False  # whether the command line names the targets, so that the file's are not used

    @property
    def folder(self) -> Path:
        return self.path.parent

    # --- templates ----------------------------------------------------------------------------
    def filled(self, text: str, values: Mapping[str, object], line: int, name: str) -> str:
        """The text with its variables. Problems are noted, and the text stays as it is."""
        names = Names()
        try:
            made = fill(text, {"env": self.env, **values}, names)
        except Unfillable as problem:
            self.log.add(line, f"{name}: the template cannot be filled: {problem}.")
            return text
        for missing in names:
            self.log.ignore(line, f"{{{{ {missing} }}}}", UNDEFINED)
        return made

    # --- files --------------------------------------------------------------------------------
    def places(self, name: str) -> list[Path]:
        """Where a file may be: next to the eval file or the including file; AgentV also looks upwards."""
        wanted = Path(name)
        if wanted.is_absolute() and self.dialect != Dialect.AGENTV:
            return [wanted]
        relative = Path(str(wanted).lstrip("/")) if wanted.is_absolute() else wanted
        folders = [self.folder, self.log.path.parent]
        if self.dialect == Dialect.AGENTV:
            folders += upwards(self.folder)
        places = [folder / relative for folder in dict.fromkeys(folders)]
        return [wanted, *places] if wanted.is_absolute() else places

    def found(self, name: str) -> Path | None:
        return next((place for place in self.places(name) if is_file(place)), None)

    def matching(self, name: str) -> list[Path]:
        """The files that a name or a pattern stands for, in name order."""
        here = self.found(name)
        if here is not None or not glob.has_magic(name):
            return [here] if here else []
        for place in self.places(name):
            found = islice(glob.iglob(str(place), recursive=True), MOST_FILES)  # noqa: PTH207 (a full path)
            files = sorted(Path(entry) for entry in found if is_file(Path(entry)))
            if files:
                return files
        return []

    def text(self, name: str, line: int, what: str, *, code: bool = False) -> tuple[Path, str] | Missing:
        """The text of a file. Pictures and media are refused by name, and code unless it is to be shown."""
        refusal = unreadable_kind(name, code=code)
        if refusal:
            return self.log.add(line, f"{what}: {name} is {refusal}")
        path = self.found(name)
        if path is None:
            return self.log.add(line, f"{what}: the file {name} was not found.")
        return self.content(path, line, what, code=code)

    def content(self, path: Path, line: int, what: str, *, code: bool = False) -> tuple[Path, str] | Missing:
        refusal = unreadable_kind(path.name, code=code)
        if refusal:
            return self.log.add(line, f"{what}: {path.name} is {refusal}")
        try:
            return path, file_text(path)
        except Unreadable as problem:
            return self.log.add(line, f"{what}: {problem}")

    def tree(self, path: Path, text: str) -> Node | Missing | None:
        """A YAML, JSON or JSONL file as a tree. Its problems are noted with its own lines."""
        try:
            if path.suffix.lower() == ".jsonl":
                return json_lines(text)
            return json_tree(text) if path.suffix.lower() == ".json" else yaml_tree(text)
        except BadFile as bad:
            with self.log.inside(path):
                self.log.add_all(bad)
            return Missing()


def is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False  # a name that no file can have


def is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def upwards(folder: Path) -> list[Path]:
    """The folder's parents, up to the root of the repository."""
    found: list[Path] = []
    for place in (folder.resolve(), *folder.resolve().parents):
        found.append(place)
        if (place / REPOSITORY).exists():
            return found
    return found[:1]


def unreadable_kind(name: str, *, code: bool = False) -> str:
    """Why a file of this name cannot be text for a prompt; empty if it can."""
    lower = name.lower()
    if lower.endswith(PICTURES):
        return "a picture; only text can be sent to a model."
    if lower.endswith(MEDIA):
        return "not a text file; only text can be sent to a model."
    if not code and is_code(lower):
        return "code; prompts, vars and tests that code makes are not supported."
    return ""


def is_code(name: str) -> bool:
    """Whether this names a program, maybe with a function such as prompts.py:make."""
    lower = name.lower()
    stem, colon, function = lower.rpartition(":")
    return lower.endswith(CODE) or bool(colon and function.replace("_", "").isalnum() and stem.endswith(CODE))


def without_scheme(text: str) -> str:
    return text.removeprefix(FILE)
