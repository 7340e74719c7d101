"""What the names of files say: which belong to a Simmer folder, and what they are in it."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

TRAJECTORY, RESULT = "trajectory.md", "result.md"
READ_FILES = (
    "trajectory.md, iteration-N-candidate, iteration-N-judgment, result (any text extension) and a brief"
)
ITERATION = re.compile(
    r"(?:iteration|iter)[-_. ]?(?P<number>\d{1,6})"
    r"(?:[-_. ](?P<kind>candidate|judg(?:e)?ment|judge|asi|eval(?:uator|uation)?)(?:[-_. ]output)?)?"
    r"(?P<extension>(?:\.[\w-]{1,20})*)\Z",
    re.IGNORECASE | re.ASCII,
)
TRAJECTORY_FILE = re.compile(r"trajectory\.(?:md|markdown|txt)\Z", re.IGNORECASE)
RESULT_FILE = re.compile(r"result(?:\.[\w-]{1,20}){0,2}\Z", re.IGNORECASE | re.ASCII)
BRIEF_FILE = re.compile(
    r"(?:experiment[-_]report|(?:simmer[-_]|setup[-_])?brief|setup|config)\.(?:md|txt)\Z", re.IGNORECASE
)
# Folders whose name says nothing about the run in them.
PLAIN_FOLDERS = frozenset(
    {
        "simmer", ".simmer", "simmer-output", "simmer_output", "docs", "doc", "output", "outputs", "out",
        "results", "result", "runs", "run", "tests", "test", "reference", "references", "tmp", "temp", "src",
        ".", "..",
    }
)  # fmt: skip


class Kind(StrEnum):
    """What a file is in its folder."""

    TRAJECTORY = "trajectory"
    RESULT = "result"
    BRIEF = "brief"
    CANDIDATE = "candidate"
    JUDGMENT = "judgment"
    ASI = "asi"
    EVALUATION = "evaluation"
    OTHER = "other"


class Place(NamedTuple):
    """A file of a Simmer folder: its kind, and the iteration if it is of one."""

    folder: str
    kind: Kind
    number: int | None = None


def place_of(path: str) -> Place:
    """The file's place by its name, such as `mail/iteration-1-candidate.py` or `mail/iteration-1/a.py`."""
    folder, _, base = path.rpartition("/")
    if TRAJECTORY_FILE.match(base):
        return Place(folder, Kind.TRAJECTORY)
    if RESULT_FILE.match(base):
        return Place(folder, Kind.RESULT)
    if BRIEF_FILE.match(base):
        return Place(folder, Kind.BRIEF)
    match = ITERATION.match(base)
    if match:
        return Place(folder, _kind(match), int(match["number"]))
    return _inside_an_iteration(folder, base)


def _kind(match: re.Match[str]) -> Kind:
    name = (match["kind"] or "").casefold()
    if not name:
        # “iteration-1.md” is a candidate, “iteration-1.raw.json” anything.
        return Kind.OTHER if match["extension"].count(".") > 1 else Kind.CANDIDATE
    if name.startswith("eval"):
        return Kind.EVALUATION
    return {"candidate": Kind.CANDIDATE, "asi": Kind.ASI}.get(name, Kind.JUDGMENT)


def _inside_an_iteration(folder: str, base: str) -> Place:
    """A file in a folder for an iteration, such as `iteration-2-candidate/main.py`."""
    outer, _, inner = folder.rpartition("/")
    match = ITERATION.match(inner)
    if match is None or match["extension"]:
        return Place(folder, Kind.OTHER)
    stem = base.split(".")[0].casefold()
    judged = stem in ("judgment", "judgement", "judge", "scores")
    return Place(outer, Kind.JUDGMENT if judged else _kind(match), int(match["number"]))


def is_simmer_name(path: str) -> bool:
    """Whether a file with this name makes its folder a Simmer folder."""
    place = place_of(path)
    base = path.rpartition("/")[2].casefold()
    return place.kind not in (Kind.OTHER, Kind.BRIEF, Kind.RESULT) or base == RESULT


def simmer_folders(paths: Iterable[str]) -> frozenset[str]:
    """The folders that contain a trajectory, candidates or judgments."""
    return frozenset(place_of(path).folder for path in paths if is_simmer_name(path))


def folder_around(path: str, folders: frozenset[str]) -> str | None:
    """The nearest Simmer folder that this file is in, at any depth."""
    folder = place_of(path).folder
    while folder not in folders:
        if not folder:
            return None
        folder = folder.rpartition("/")[0]
    return folder
