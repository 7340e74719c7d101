"""The runs that the figures are about: the newest ones that match a filter, up to a limit."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from refinement.engine.types import Outcome
from refinement.models import Criterion, Project, RubricVersion
from refinement.selectors.runs.listing.filters import RunFilters, runs_found

SIZES = (300, 1_000, 3_000)  # newest runs; larger windows take longer
TOP = 10.0
# Runs of experiments: what the figures do with them. The first one is usual.
LEAVE_OUT, INCLUDE, ONLY = "leave_out", "include", "only"
EXPERIMENTS = {LEAVE_OUT: "Leave out", INCLUDE: "Include", ONLY: "Only"}
WEEKS = 12


class WindowRun(NamedTuple):
    """What the figures need of a run."""

    pk: int
    created_at: datetime
    version: int
    outcome: str
    stop_reason: str
    failure_role: str
    best: Decimal | None
    best_round: int | None
    producer: str
    judge: str
    task_type: str
    penalty_rounds: int


class Scale(NamedTuple):
    """How a rubric version's scores become parts of ten, and its pass mark among them."""

    factor: float
    pass_mark: float | None


@dataclass(frozen=True, slots=True)
class Window:
    """The runs, newest first, and what is known of their rubrics."""

    runs: list[WindowRun]
    more: bool  # older runs match, too
    size: int
    scales: Mapping[int, Scale]  # by rubric version
    names: Mapping[str, str]  # of criteria, by key
    order: Mapping[str, int]  # of criteria, by key
    criteria: Mapping[int, frozenset[str]]  # keys by rubric version
    rubrics: int = 1

    @property
    def numbers(self) -> list[int]:
        return [run.pk for run in self.runs]

    @property
    def pass_mark(self) -> float | None:
        """The pass mark that all rubrics with one share; None if they differ or there is none."""
        marks = {scale.pass_mark for scale in self.scales.values()} - {None}
        return marks.pop() if len(marks) == 1 else None

    def mark_of(self, criterion: str) -> float | None:
        """The pass mark that all rubrics with this criterion share."""
        marks = {
            scale.pass_mark for pk, scale in self.scales.items() if criterion in self.criteria.get(pk, ())
        }
        return marks.pop() if len(marks) == 1 else None

    def name_of(self, criterion: str) -> str:
        return self.names.get(criterion) or criterion.replace("_", " ").capitalize() or "No criterion"

    def slot_of(self, criterion: str) -> int:
        """A stable number from 1 to 8 for the criterion's colour."""
        return self.order.get(criterion, len(self.order)) % 8 + 1


def experiments_choice(given: str, filters: RunFilters) -> str:
    """What to do with runs of experiments; empty if the filter already names an experiment or a suite.

    By default they are left out: an experiment repeats each task under several configurations, so that one
    may have more runs than everything else.
    """
    if filters.experiment or filters.suite or filters.of_experiments is not None:
        return ""
    return given if given in EXPERIMENTS else LEAVE_OUT


def with_experiments(filters: RunFilters, given: str) -> RunFilters:
    """The filters with the choice applied."""
    choice = experiments_choice(given, filters)
    if not choice:
        return filters
    return replace(filters, of_experiments={LEAVE_OUT: False, ONLY: True}.get(choice))


def window_of(project: Project, filters: RunFilters, size: int = SIZES[0]) -> Window:
    """The newest matching runs that have ended. Three queries."""
    fields = (
        *("pk", "created_at", "rubric_version_id", "outcome", "stop_reason", "failure_role", "best"),
        *("best_round", "producer_model", "judge_model", "task_type", "penalty_rounds"),
    )
    # Not `outcome__gt`: with that, SQLite sorts all of them by an index that begins with the outcome.
    found = runs_found(project, filters).exclude(outcome="")
    rows = [WindowRun(*values) for values in found.values_list(*fields)[: size + 1]]
    runs = rows[:size]
    versions = {run.version for run in runs}
    rubrics = RubricVersion.objects.filter(pk__in=versions).values_list(
        "pk", "rubric_id", "scale_maximum", "policy__pass_threshold"
    )
    scales = {pk: scale_of(maximum, mark) for pk, _, maximum, mark in rubrics}
    names: dict[str, str] = {}
    keys: dict[int, set[str]] = {pk: set() for pk in versions}
    criteria = Criterion.objects.filter(version__in=versions).order_by("-version_id", "position")
    for version, key, name in criteria.values_list("version_id", "key", "name"):
        names.setdefault(key, name)
        keys[version].add(key)
    order = {key: place for place, key in enumerate(names)}
    known = {pk: frozenset(found) for pk, found in keys.items()}
    count = len({rubric for _, rubric, _, _ in rubrics})
    return Window(runs, len(rows) > size, size, scales, names, order, known, count)


def scale_of(maximum: Decimal, mark: object) -> Scale:
    factor = TOP / float(maximum)
    return Scale(factor, None if mark in (None, "") else round(float(str(mark)) * factor, 3))


def weeks_before(now: datetime) -> list[datetime]:
    """The starts of the last WEEKS weeks, the oldest first; the last one ends now."""
    return [now - timedelta(weeks=WEEKS - n) for n in range(WEEKS)]


def ended_normally(run: WindowRun) -> bool:
    return run.outcome in (Outcome.PASS, Outcome.FAIL, Outcome.DONE)
