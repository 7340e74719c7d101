"""A project's experiments, newest first, a page at a time."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from refinement.models import (
    CellState,
    Configuration,
    Experiment,
    ExperimentRun,
    ExperimentStatus,
    Project,
    Suite,
)
from refinement.selectors.experiments.progress import ENDED
from refinement.selectors.experiments.reports.stored import NOTHING, StoredResults, stored_of

PAGE_SIZE = 25
MOST_NAMED = 4
MOST_AT_HOME = 3
UNDER_WAY = (ExperimentStatus.RUNNING, ExperimentStatus.PAUSED)


@dataclass(frozen=True, slots=True)
class Listed:
    """A line: the experiment, how far it is, and what it found."""

    experiment: Experiment
    total: int
    ended: int
    scored: int
    headline: str
    configurations: tuple[str, ...]

    @property
    def share(self) -> int:
        return round(100 * self.ended / self.total) if self.total else 0

    @property
    def without_score(self) -> int:
        return self.total - self.scored

    @property
    def is_live(self) -> bool:
        return self.experiment.status == ExperimentStatus.RUNNING


@dataclass(frozen=True, slots=True)
class ExperimentList:
    lines: Sequence[Listed]
    older: int | None  # the number that the next page starts before
    total: int


def experiments_of(
    project: Project, *, suite: Suite | None = None, words: str = "", before: int | None = None
) -> ExperimentList:
    """One page. Takes a fixed number of queries."""
    rows = Experiment.objects.filter(project=project)
    if suite is not None:
        rows = rows.filter(suite_version__suite=suite)
    if words:
        rows = rows.filter(Q(name__icontains=words) | Q(suite_version__suite__name__icontains=words))
    total = rows.count()
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows.select_related("suite_version__suite", "created_by").order_by("-pk")[: PAGE_SIZE + 1])
    shown = found[:PAGE_SIZE]
    older = shown[-1].pk if len(found) > PAGE_SIZE else None
    return ExperimentList(listed(shown), older, total)


def experiments_for_home(project: Project) -> list[Listed]:
    """The running ones, or else the newest ones."""
    newest = newest_experiments(project, MOST_AT_HOME * 3)
    going = [entry for entry in newest if entry.experiment.status in UNDER_WAY]
    return (going or newest)[:MOST_AT_HOME]


def newest_experiments(project: Project, most: int, statuses: Collection[str] = ()) -> list[Listed]:
    """The newest experiments, of these statuses only if any are given."""
    rows = Experiment.objects.filter(project=project).select_related("suite_version__suite", "created_by")
    if statuses:
        rows = rows.filter(status__in=statuses)
    return listed(list(rows.order_by("-pk")[:most]))


def listed(experiments: Sequence[Experiment]) -> list[Listed]:
    """Counts, names and headlines of these experiments in three queries."""
    if not experiments:
        return []
    numbers = [experiment.pk for experiment in experiments]
    counts, names, stored = counts_in(numbers), names_in(numbers), stored_of(numbers)
    return [line(each, counts.get(each.pk, {}), names.get(each.pk, []), stored) for each in experiments]


def line(
    experiment: Experiment,
    counts: Mapping[str, int],
    names: Sequence[str],
    stored: Mapping[int, StoredResults],
) -> Listed:
    report = stored.get(experiment.pk, NOTHING)
    result = (report.result or {}) if not report.is_outdated else {}  # by rules that no longer hold
    return Listed(
        experiment=experiment,
        total=sum(counts.values()),
        ended=sum(counts.get(state, 0) for state in ENDED),
        scored=counts.get(CellState.DONE, 0),
        headline=str(result.get("headline", "")),
        configurations=(
            *names[:MOST_NAMED],
            *([f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []),
        ),
    )


def counts_in(numbers: Collection[int]) -> dict[int, dict[str, int]]:
    rows = ExperimentRun.objects.filter(experiment__in=numbers, replaced=False).order_by()
    found: dict[int, dict[str, int]] = {}
    for experiment, state, count in rows.values_list("experiment_id", "state").annotate(count=Count("pk")):
        found.setdefault(experiment, {})[state] = count
    return found


def names_in(numbers: Collection[int]) -> dict[int, list[str]]:
    rows = Configuration.objects.filter(experiment__in=numbers).order_by("experiment_id", "position")
    found: dict[int, list[str]] = {}
    for experiment, name in rows.values_list("experiment_id", "name"):
        found.setdefault(experiment, []).append(name)
    return found
