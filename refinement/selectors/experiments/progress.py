"""An experiment while it runs: counts, squares of the grid, budget, time left, failures."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Sum
from django.utils import timezone

from refinement.models import CellState, Configuration, Experiment, ExperimentRun, ExperimentStatus
from refinement.selectors.runs.words import duration

MOST_SQUARES = 2_400  # more runs are shown as counts alone
MOST_FAILURES = 4
ENDED = (CellState.DONE, CellState.UNSCORED, CellState.ERROR, CellState.CANCELLED)
FAILED = (CellState.ERROR, CellState.UNSCORED)
LONGEST_LEFT = 14 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Line:
    """One configuration: its runs in the order of the tasks, and how many have ended."""

    configuration: Configuration
    squares: tuple[str, ...]  # states
    counts: dict[str, int]

    @property
    def ended(self) -> int:
        return sum(self.counts.get(state, 0) for state in ENDED)

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def words(self) -> str:
        """The states in words, for those who do not see the squares."""
        labels = dict(CellState.choices)
        said = [f"{count:,} {labels[state].lower()}" for state, count in self.counts.items() if count]
        return ", ".join(said)


@dataclass(frozen=True, slots=True)
class Progress:
    lines: tuple[Line, ...]
    counts: dict[str, int]
    tokens: int
    budget: int | None
    elapsed: str
    left: str  # empty if it cannot be told
    failures: tuple[ExperimentRun, ...]
    mark: str  # changes when the page should be read again

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def ended(self) -> int:
        return sum(self.counts.get(state, 0) for state in ENDED)

    @property
    def done(self) -> int:
        return self.counts.get(CellState.DONE, 0)

    @property
    def running(self) -> int:
        return self.counts.get(CellState.RUNNING, 0)

    @property
    def waiting(self) -> int:
        return self.counts.get(CellState.WAITING, 0)

    @property
    def missing(self) -> int:
        """Runs that "Run what is missing" would start."""
        return self.total - self.done - self.running

    @property
    def share(self) -> int:
        return round(100 * self.ended / self.total) if self.total else 0

    @property
    def budget_share(self) -> int:
        return min(100, round(100 * self.tokens / self.budget)) if self.budget else 0

    @property
    def projected(self) -> int | None:
        """The tokens at the end, if the other runs are like those that have ended."""
        return round(self.tokens * self.total / self.ended) if self.ended else None

    @property
    def exceeds(self) -> bool:
        return bool(self.budget and self.projected and self.projected > self.budget)

    @property
    def gaps(self) -> str:
        """How many runs have no score, and why."""
        words = {
            CellState.UNSCORED: "unscored",
            CellState.ERROR: "error",
            CellState.CANCELLED: "stopped",
            CellState.WAITING: "not run",
        }
        said = [f"{self.counts[state]:,} {word}" for state, word in words.items() if self.counts.get(state)]
        return ", ".join(said)


def counts_of(experiment: Experiment) -> tuple[dict[int, dict[str, int]], int]:
    """How many runs are in each state by configuration, and the tokens used."""
    rows = (
        ExperimentRun.objects.filter(experiment=experiment, replaced=False)
        .order_by()
        .values_list("configuration_id", "state")
        .annotate(runs=Count("pk"), used=Sum("tokens"))
    )
    found: dict[int, dict[str, int]] = {}
    tokens = 0
    for configuration, state, runs, used in rows:
        found.setdefault(configuration, {})[state] = runs
        tokens += used or 0
    return found, tokens


def mark_of(experiment: Experiment, counts: dict[int, dict[str, int]], computed: int) -> str:
    """Identifies what the page shows."""
    parts = [
        f"{number}{state[0]}{count}"
        for number, own in sorted(counts.items())
        for state, count in sorted(own.items())
    ]
    return f"{experiment.status}.{computed}.{'.'.join(parts)}"


def progress_of(
    experiment: Experiment, configurations: Sequence[Configuration], *, computed: int, grid: bool = True
) -> Progress:
    """Takes three queries; two without the grid."""
    by_configuration, tokens = counts_of(experiment)
    counts: dict[str, int] = {}
    for own in by_configuration.values():
        for state, count in own.items():
            counts[state] = counts.get(state, 0) + count
    squares = squares_of(experiment) if grid and sum(counts.values()) <= MOST_SQUARES else {}
    lines = tuple(
        Line(each, tuple(squares.get(each.pk, ())), by_configuration.get(each.pk, {}))
        for each in configurations
    )
    ended = sum(counts.get(state, 0) for state in ENDED)
    elapsed = (experiment.finished_at or timezone.now()) - experiment.created_at
    left = left_words(experiment, elapsed, ended, sum(counts.values()))
    return Progress(
        lines=lines,
        counts=counts,
        tokens=tokens,
        budget=experiment.token_budget,
        elapsed=duration(elapsed.total_seconds()),
        left=left,
        failures=failures_of(experiment) if grid else (),
        mark=mark_of(experiment, by_configuration, computed),
    )


def squares_of(experiment: Experiment) -> dict[int, list[str]]:
    """The state of every run by configuration, in the order in which they are started."""
    rows = ExperimentRun.objects.filter(experiment=experiment, replaced=False).order_by("order", "id")
    found: dict[int, list[str]] = {}
    for configuration, state in rows.values_list("configuration_id", "state"):
        found.setdefault(configuration, []).append(state)
    return found


def failures_of(experiment: Experiment) -> tuple[ExperimentRun, ...]:
    """The last runs without a score."""
    rows = ExperimentRun.objects.filter(experiment=experiment, replaced=False, state__in=FAILED)
    rows = rows.select_related("task", "configuration").defer("task__task", "task__seed", "task__sources")
    return tuple(rows.order_by("-id")[:MOST_FAILURES])


def left_words(experiment: Experiment, elapsed: timedelta, ended: int, total: int) -> str:
    """About how long it goes on at the pace so far."""
    if experiment.status != ExperimentStatus.RUNNING or not ended:
        return ""
    seconds = elapsed.total_seconds() * (total - ended) / ended
    if seconds > LONGEST_LEFT:
        return ""
    if seconds < 60:
        return "less than a minute"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"about {minutes} minute{'' if minutes == 1 else 's'}"
    return f"about {duration(seconds)}"
