"""Stores results line by line, so that a crash loses at most the last line."""

import fcntl
import json
import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, TypedDict

from refinement.evals.types import BadEval

FORMAT, FORMAT_VERSION = "wiggum_eval", 1
RESULTS, JOURNAL, LOCK = "results.jsonl", ".runs.jsonl", ".lock"
UNFINISHED = ("ERROR", "CANCELLED")  # rerun when an evaluation is resumed


class AssertResult(TypedDict):
    """One assertion about one answer. `passed` is None if the judge's score is missing."""

    id: str
    type: str
    passed: bool | None
    score: float | None
    weight: float
    severity: str
    message: str
    expected: str
    actual: str  # clipped
    suggestion: str
    metric: str
    set: str  # the id of its assert-set


class SetResult(TypedDict):
    """One assert-set in the best iteration."""

    id: str
    passed: bool
    score: float
    asserts: list[str]


class Feedback(TypedDict):
    """A failed assertion, as the next prompt describes it."""

    severity: str
    id: str
    reason: str
    expected: str
    actual: str
    suggestion: str


class Iteration(TypedDict):
    """One answer."""

    iteration: int
    score: float | None
    asserts: list[AssertResult]
    feedback: list[Feedback]


class Ralph(TypedDict):
    """How the loop went."""

    iterations: int
    scores: list[float]
    stop_reason: str
    improvement: float | None
    passed_iteration: int | None  # the first one that passed
    best_iteration: int | None


class Result(TypedDict):
    """One line of results.jsonl."""

    wiggum_eval: int
    key: str
    eval: str
    file: str
    line: int
    case: str
    trial: int  # from 1
    trials: int
    target: str
    model: str
    run: int | None
    passed: bool  # and the judge has what the project requires
    outcome: str
    score: float | None
    threshold: float | None
    output: str
    asserts: list[AssertResult]
    sets: list[SetResult]
    metrics: dict[str, float]
    issues: list[str]
    ralph: Ralph
    iterations: list[Iteration]
    tags: list[str]
    metadata: dict[str, Any]
    tokens: int
    cost: float | None
    seconds: float
    why: str
    judge_proven: bool | None  # None if the project requires nothing of judges
    unproven_reason: str
    unreachable: bool


class Results:
    """The folder of one evaluation. Only one process writes to it at a time."""

    def __init__(self, folder: Path, *, resume: bool, rerun_failed: bool = False) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = (folder / LOCK).open("w")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadEval(
                [f"{folder}: another evaluation is using this folder. Wait, or choose another --out."]
            ) from None
        except OSError as error:
            raise BadEval([f"{folder}: cannot write to this folder ({error.strerror})."]) from None
        previous = list(finished(folder / RESULTS)) if resume or rerun_failed else []
        failed = {entry["key"] for entry in previous if rerun_failed and not entry["passed"]}
        self.finished: dict[str, Result] = {
            entry["key"]: entry for entry in previous if entry["key"] not in failed
        }
        journal = begun(folder / JOURNAL) if resume or rerun_failed else ()
        self.begun: dict[str, int] = {key: run for key, run in journal if key not in failed}
        self._writing = threading.Lock()

    def open(self) -> None:
        """Opens the files for writing. Before this call, existing files are unchanged."""
        journal = ({"key": key, "run": run} for key, run in self.begun.items())
        write_atomically(self.folder / RESULTS, "".join(map(line_of, self.finished.values())))
        write_atomically(self.folder / JOURNAL, "".join(map(line_of, journal)))
        self._results = (self.folder / RESULTS).open("ab")
        self._journal = (self.folder / JOURNAL).open("ab")

    def begin(self, key: str, run: int) -> None:
        """Records the run of a case, so that a resumed evaluation can continue it."""
        with self._writing:
            self._journal.write(line_of({"key": key, "run": run}).encode())
            self._journal.flush()  # survives a crash of the process; after a power failure the case is rerun

    def add(self, result: Result) -> None:
        """Stores a case's result. It is on disk when this returns."""
        with self._writing:
            append(self._results, result)
        self.finished[result["key"]] = result

    def close(self) -> None:
        for stream in (self._results, self._journal, self._lock):
            stream.close()


def finished(path: Path) -> Iterator[Result]:
    """The results that need no rerun."""
    for entry in lines(path):
        if entry.get(FORMAT) != FORMAT_VERSION or not isinstance(entry.get("key"), str):
            raise BadEval([f"{path}: not a results file of wiggum eval. Choose another --out."])
        if entry.get("outcome") not in UNFINISHED:
            yield entry  # type: ignore[misc]


def begun(path: Path) -> Iterator[tuple[str, int]]:
    for entry in lines(path):
        if isinstance(entry.get("key"), str) and isinstance(entry.get("run"), int):
            yield entry["key"], entry["run"]


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Every complete line. A partial line at the end is ignored."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    *whole, _ = data.split(b"\n")
    for number, line in enumerate(whole, 1):
        try:
            entry = json.loads(line)
        except ValueError:
            raise BadEval(
                [f"{path}:{number}: this line is not valid JSON. Fix it, or choose another --out."]
            ) from None
        if isinstance(entry, dict):
            yield entry


def line_of(entry: object) -> str:
    return json.dumps(entry, ensure_ascii=False) + "\n"


def append(stream: IO[bytes], entry: object) -> None:
    # Models may write lone surrogates, which UTF-8 cannot encode.
    stream.write(line_of(entry).encode("utf-8", "replace"))
    stream.flush()
    os.fsync(stream.fileno())


def write_atomically(path: Path, text: str) -> None:
    """Replaces the file. A crash never leaves a partial file."""
    temporary = path.with_name(f"{path.name}.new")
    with temporary.open("wb") as stream:
        stream.write(text.encode("utf-8", "replace"))
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)


def is_unproven(result: Result) -> bool:
    """Whether the case would have passed by another judge."""
    return result["outcome"] == "PASS" and not result["passed"]


def passed_of(results: Iterable[Result]) -> int:
    return sum(result["passed"] for result in results)
