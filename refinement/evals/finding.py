"""Finds eval files: named ones, those that a pattern matches, and those in folders."""

import glob
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from refinement.evals.types import BadEval

ENDINGS = (".eval.yaml", ".eval.yml", ".eval.jsonl")
NAMES = ("eval.yaml", "eval.yml")
PROMPTFOO = re.compile(r"promptfooconfig(?:[.\-_].*)?\.(?:ya?ml|json)")
# Older AgentV files have ordinary names. Their content tells them apart.
SNIFFED = (".yaml", ".yml")
SNIFFED_BYTES = 200_000
TESTS = re.compile(rb"^(?:evalcases|eval_cases|tests):", re.M)
SURE = re.compile(rb"^(?:evalcases|eval_cases):|^\$schema: *\S*agentv", re.M)
LIKELY = re.compile(
    rb"^(?:target|execution|dataset|assert|assertions|evaluators|prompts|criteria|workspace):"
    rb"|^ +(?:- )?(?:criteria|expected_output|evaluators|assertions):",
    re.M,
)
CASE_LINE = re.compile(rb'\s*\{(?=.*"(?:input|input_messages|vars)")(?=.*"id")')
NOT_CASES = (".baseline.jsonl", ".results.jsonl", "results.jsonl", "index.jsonl")
SKIPPED = ("node_modules", "__pycache__")
MOST_FILES = 2_000


class MissingEval(BadEval):
    """A file or folder does not exist."""


def eval_files(paths: Iterable[Path]) -> list[Path]:
    """The eval files at these paths, without duplicates. Raises BadEval with every path that has none."""
    files: dict[Path, Path] = {}
    problems: list[str] = []
    missing = False
    for path in paths:
        inside = list(at(path))
        if path.is_dir() and not inside:
            endings = ", ".join(f"*{ending}" for ending in ENDINGS)
            problems.append(
                f"{path}: no eval files in this folder ({endings}, {', '.join(NAMES)}, promptfooconfig.yaml)."
            )
        for file in inside:
            if file.is_file():
                files.setdefault(file.resolve(), file)
            else:
                problems.append(f"{file}: file not found.")
                missing = True
    if problems:
        raise (MissingEval if missing else BadEval)(problems)
    if len(files) > MOST_FILES:
        raise BadEval([f"There are {len(files):,} eval files; the limit is {MOST_FILES:,}."])
    return list(files.values())


def at(path: Path) -> Iterator[Path]:
    """The files at a path. A pattern that the shell has left alone is matched here."""
    if path.is_dir():
        yield from in_folder(path)
    elif not path.exists() and glob.has_magic(str(path)):
        found = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 (a full path)
        yield from (Path(name) for name in found if Path(name).is_file()) if found else (path,)
    else:
        yield path


def in_folder(folder: Path) -> Iterator[Path]:
    """The eval files of a folder and its folders, in name order. Hidden folders are skipped."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED)
        found = [name for name in sorted(files) if is_eval(Path(place, name))]
        stems = {Path(name).stem for name in found if name.endswith(".jsonl")}
        for name in found:
            # The settings of a data set are read with it.
            if not (name.endswith(SNIFFED) and Path(name).stem in stems and not has_tests(Path(place, name))):
                yield Path(place, name)


def is_eval(path: Path) -> bool:
    """Whether a file in a folder is an eval, by its name or else by how it begins."""
    name = path.name.lower()
    if name in NAMES or name.endswith(ENDINGS) or PROMPTFOO.fullmatch(name):
        return True
    if name.endswith(".jsonl") and not name.endswith(NOT_CASES):
        return bool(CASE_LINE.match(beginning(path)))
    if not name.endswith(SNIFFED):
        return False
    start = beginning(path)
    return bool(SURE.search(start) or (TESTS.search(start) and LIKELY.search(start)))


def has_tests(path: Path) -> bool:
    return bool(TESTS.search(beginning(path)))


def beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(SNIFFED_BYTES)
    except OSError:
        return b""
