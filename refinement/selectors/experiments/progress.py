"""How far experiments are. Figures with intervals come from `reports/results.py`.

`progress_of` counts an experiment's runs, `live_progress_of` adds what its page shows while it runs (squares
of the grid, budget, time left, failures), and `glances_at` says whether open pages have to change.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db.models import Count, Sum

from refinement.models import (
    CellState,
    Configuration,
    Experiment,
    ExperimentRun,
    ExperimentStatus,
    Report,
    ReportKind,
    Run,
)
from refinement.selectors.experiments.clocks import elapsed_of
from refinement.selectors.experiments.gaps import FAILED, Failure, failures_of
from refinement.selectors.experiments.held import ASKING, AWAY, PAUSED, Held, held_in
from refinement.selectors.runs.words import duration

MOST_SQUARES = 2_400  # more runs are shown as counts alone
ENDED = (CellState.DONE, CellState.UNSCORED, CellState.ERROR, CellState.CANCELLED)
LONGEST_LEFT = 14 * 24 * 3600


@dataclass(frozen=True)
class Counted:
    """Current runs by state, and the tokens of those that have ended."""

    states: Mapping[str, int]
    tokens: int

    @property
    def total(self) -> int:
        return sum(self.states.values())

    @property
    def ended(self) -> int:
        return sum(self.states.get(state, 0) for state in ENDED)

    @property
    def unfinished(self) -> int:
        return self.total - self.ended

    @property
    def done(self) -> int:
        return self.states.get(CellState.DONE, 0)

    @property
    def without_result(self) -> int:
        """Ended without a score."""
        return self.ended - self.done

    @property
    def running(self) -> int:
        return self.states.get(CellState.RUNNING, 0)

    @property
    def percent(self) -> int:
        return 100 * self.ended // self.total if self.total else 0


@dataclass(frozen=True)
class Progress(Counted):
    """How far the experiment is, and what its ended runs took."""

    seconds: Decimal
    cost: Decimal | None


def progress_of(experiment: Experiment) -> Progress:
    """One query."""
    current = ExperimentRun.objects.filter(experiment=experiment, replaced=False).order_by()
    groups = list(
        current.values("state").annotate(
            count=Count("pk"), tokens=Sum("tokens"), seconds=Sum("seconds"), cost=Sum("cost")
        )
    )
    costs = [group["cost"] for group in groups if group["cost"] is not None]
    return Progress(
        states={group["state"]: group["count"] for group in groups},
        tokens=sum(group["tokens"] for group in groups),
        seconds=sum((group["seconds"] for group in groups), Decimal(0)),
        cost=sum(costs, Decimal(0)) if costs else None,
    )


def tokens_used(experiment: Experiment) -> int:
    """The tokens of all its runs, also of replaced and running ones. Two queries."""
    ended = ExperimentRun.objects.filter(experiment=experiment).aggregate(sum=Sum("tokens"))["sum"] or 0
    going = Run.objects.filter(experiment_run__experiment=experiment, experiment_run__state=CellState.RUNNING)
    sums = going.order_by().aggregate(prompts=Sum("prompt_tokens"), replies=Sum("completion_tokens"))
    return ended + (sums["prompts"] or 0) + (sums["replies"] or 0)


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


@dataclass(frozen=True)
class LiveProgress(Counted):
    """An experiment while it runs, as its page shows it."""

    lines: tuple[Line, ...]
    budget: int | None
    elapsed: str
    left: str  # empty if it is unknown
    failures: tuple[Failure, ...]
    held: Held
    mark: str  # changes when the page should be read again

    @property
    def moving(self) -> int:
        """Runs that are running and do not wait for a server or a person."""
        return max(0, self.running - self.held.total)

    @property
    def is_held(self) -> bool:
        """Whether nothing moves until a model server is back or a person acts."""
        return bool(self.held.total) and not self.moving

    @property
    def to_run(self) -> int:
        """Runs that "Run what is missing" would start."""
        return self.total - self.done - self.running

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
        """How many runs have no score, and why; in the leaderboard's words."""
        counts = {
            "unscored": self.states.get(CellState.UNSCORED, 0),
            "error": self.states.get(CellState.ERROR, 0),
            "not run": self.states.get(CellState.CANCELLED, 0) + self.states.get(CellState.WAITING, 0),
        }
        return ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)


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


def mark_of(experiment: Experiment, counts: dict[int, dict[str, int]], computed: int, held: Held) -> str:
    """Identifies what the page shows."""
    parts = [
        f"{number}{state[0]}{count}"
        for number, own in sorted(counts.items())
        for state, count in sorted(own.items())
    ]
    return f"{experiment.status}.{computed}.{held.mark}.{'.'.join(parts)}"


def live_progress_of(
    experiment: Experiment, configurations: Sequence[Configuration], *, report: Report | None
) -> LiveProgress:
    """At most six queries, whatever its size."""
    by_configuration, tokens = counts_of(experiment)
    counts: dict[str, int] = {}
    for own in by_configuration.values():
        for state, count in own.items():
            counts[state] = counts.get(state, 0) + count
    shows_grid = not experiment.is_finished and sum(counts.values()) <= MOST_SQUARES
    squares = squares_of(experiment) if shows_grid else {}
    lines = tuple(
        Line(each, tuple(squares.get(each.pk, ())), by_configuration.get(each.pk, {}))
        for each in configurations
    )
    ended = sum(counts.get(state, 0) for state in ENDED)
    running = bool(counts.get(CellState.RUNNING)) or experiment.status == ExperimentStatus.RUNNING
    elapsed = elapsed_of(experiment, report, running=running)
    held = Held() if experiment.is_finished else held_in(experiment)
    left = left_words(experiment, elapsed, ended, sum(counts.values()))
    return LiveProgress(
        lines=lines,
        states=counts,
        tokens=tokens,
        budget=experiment.token_budget,
        elapsed=duration(elapsed.total_seconds()),
        left=left,
        failures=failures_of(experiment) if counts.keys() & set(FAILED) else (),
        held=held,
        mark=mark_of(experiment, by_configuration, version_of(report), held),
    )


def version_of(report: Report | None) -> int:
    """Changes when the figures do, or when newer runs are missing in them."""
    return report.computed * 2 + report.is_current if report else 0


def squares_of(experiment: Experiment) -> dict[int, list[str]]:
    """The state of every run by configuration, in the order in which they are started."""
    rows = ExperimentRun.objects.filter(experiment=experiment, replaced=False).order_by("order", "id")
    found: dict[int, list[str]] = {}
    for configuration, state in rows.values_list("configuration_id", "state"):
        found.setdefault(configuration, []).append(state)
    return found


def left_words(experiment: Experiment, elapsed: timedelta, ended: int, total: int) -> str:
    """The estimated time left at the pace so far."""
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


@dataclass(frozen=True, slots=True)
class Glance:
    """What changes when an experiment's page has to change."""

    status: str
    reason: str
    states: tuple[tuple[str, int], ...]
    report: int  # the count of its report that is computed
    ended: bool
    held: int = 0  # runs that wait for a model server or a person


def glances_at(experiment_ids: Collection[int]) -> dict[int, Glance]:
    """The state of these experiments, without deleted ones. Four queries."""
    rows = Experiment.objects.filter(pk__in=experiment_ids).order_by()
    counts: dict[int, list[tuple[str, int]]] = {}
    groups = (
        ExperimentRun.objects.filter(experiment__in=experiment_ids, replaced=False)
        .order_by()
        .values_list("experiment", "state")
        .annotate(count=Count("pk"))
    )
    for experiment, state, count in groups:
        counts.setdefault(experiment, []).append((state, count))
    reports = dict(
        Report.objects.filter(kind=ReportKind.EXPERIMENT, subject__in=experiment_ids).values_list(
            "subject", "computed"
        )
    )
    waiting = Run.objects.filter(AWAY | ASKING | PAUSED, experiment__in=experiment_ids).order_by()
    held = dict(waiting.values_list("experiment").annotate(count=Count("pk")))
    return {
        pk: Glance(
            status,
            reason,
            tuple(sorted(counts.get(pk, []))),
            reports.get(pk, 0),
            ended=finished_at is not None,
            held=held.get(pk, 0),
        )
        for pk, status, reason, finished_at in rows.values_list(
            "pk", "status", "status_reason", "finished_at"
        )
    }
