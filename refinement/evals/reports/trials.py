"""Repeats of a case: whether any or all of them passed, and how much their scores differ."""

from collections.abc import Iterable
from itertools import groupby
from statistics import fmean
from typing import TypedDict

from refinement.evals.reports.results import Result


class Trials(TypedDict):
    """The repeats of one case with one target."""

    file: str
    case: str
    target: str
    trials: int
    passed: int
    pass_any: bool
    pass_all: bool
    mean: float | None  # of the scores
    spread: float | None  # between the best and the worst score


def trials_of(results: Iterable[Result]) -> list[Trials]:
    """One entry for every case that has repeats, in the order of the results."""
    repeated = sorted(
        (result for result in results if result.get("trials", 1) > 1),
        key=lambda result: (result["file"], result["line"], result["case"], result["target"]),
    )
    groups = groupby(repeated, lambda result: (result["file"], result["case"], result["target"]))
    return [_summary(file, case, target, list(group)) for (file, case, target), group in groups]


def _summary(file: str, case: str, target: str, group: list[Result]) -> Trials:
    scores = [result["score"] for result in group if result["score"] is not None]
    passed = sum(result["passed"] for result in group)
    return {
        "file": file,
        "case": case,
        "target": target,
        "trials": len(group),
        "passed": passed,
        "pass_any": passed > 0,
        "pass_all": passed == len(group),
        "mean": round(fmean(scores), 6) if scores else None,
        "spread": round(max(scores) - min(scores), 6) if scores else None,
    }
