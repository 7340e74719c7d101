"""Finds eval files."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from refinement.evals.types import BadEval

ENDINGS = (".eval.yaml", ".eval.yml")
NAMES = ("eval.yaml", "eval.yml")
MOST_FILES = 2_000


def eval_files(paths: Iterable[Path]) -> list[Path]:
    """The eval files at these paths, without duplicates. Folders are searched in name order."""
    files: dict[Path, Path] = {}
    for path in paths:
        inside = list(_in_folder(path)) if path.is_dir() else [path]
        if not inside:
            endings = ", ".join(f"*{ending}" for ending in ENDINGS)
            raise BadEval([f"{path}: no eval files in this folder ({endings}, {', '.join(NAMES)})."])
        for file in inside:
            if not file.is_file():
                raise BadEval([f"{file}: file not found."])
            files.setdefault(file.resolve(), file)
    if len(files) > MOST_FILES:
        raise BadEval([f"There are {len(files):,} eval files; the limit is {MOST_FILES:,}."])
    return list(files.values())


def _in_folder(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            lower = name.lower()
            if lower in NAMES or lower.endswith(ENDINGS):
                yield Path(place, name)
