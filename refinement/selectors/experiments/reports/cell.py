"""One task of an experiment: its runs, and one configuration next to the baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from refinement.charts import Series, TrajectoryChart, trajectory_chart
from refinement.charts.intervals import place
from refinement.models import (
    CellState,
    CheckResult,
    Configuration,
    Experiment,
    ExperimentRun,
    Project,
    SuiteTask,
    Verdict,
)
from refinement.selectors.compare.charts import one_scale
from refinement.selectors.compare.runs import Side, sides_of
from refinement.selectors.experiments.reports.headline import listed
from refinement.selectors.experiments.reports.heatmap import Compared, Key, composite_value, worst_cells
from refinement.selectors.experiments.reports.rulers import ruler_of, rulers_differ
from refinement.selectors.experiments.words import share_text, signed
from refinement.selectors.score_words import composite_text, score_change, score_text

MOST_ROWS = 240  # of a task: configurations × repeats
MOST_EACH = 2  # repeats of each of the two that are drawn
SERIES = 8  # colours; further slots repeat them dashed
MOST_REASONS = 3
MOST_REASON_CHARS = 700


@dataclass(frozen=True, slots=True)
class CellRun:
    """A repeat, with its composite on the suite's scale."""

    row: ExperimentRun
    value: float | None

    @property
    def name(self) -> str:
        return f"{self.row.configuration.letter} repeat {self.row.repeat}"

    @property
    def first_pass(self) -> str:
        return composite_text(self.row.r1, None) if self.row.r1 is not None else ""

    @property
    def best(self) -> str:
        return composite_text(self.row.best, None) if self.row.best is not None else ""

    @property
    def label(self) -> str:
        """The same for a list of choices."""
        return f"{self.row.configuration.letter} {self.row.configuration.name}, repeat {self.row.repeat}"


@dataclass(frozen=True, slots=True)
class CriterionGap:
    """Best rounds of the two configurations by criterion, as places on one line."""

    name: str
    base: str
    own: str
    base_x: str
    own_x: str
    change: str
    tone: str
    gap: Decimal
    key: str


@dataclass(frozen=True, slots=True)
class Reason:
    """What the judge said about a criterion that lost."""

    criterion: str
    score: str
    text: str


@dataclass(frozen=True, slots=True)
class CellFacts:
    task: SuiteTask
    runs: tuple[CellRun, ...]
    configuration: Configuration
    baseline: Configuration | None
    own: float | None
    base: float | None
    noise: float
    noise_known: bool
    agreement: str
    previous: Key | None
    following: Key | None
    rank: int  # of the regression, from 1; 0 if it is none
    regressions: int
    differs: str  # in what it is measured differently than the baseline; then scores do not compare

    @property
    def gap(self) -> float | None:
        if self.own is None or self.base is None or self.configuration == self.baseline or self.differs:
            return None
        return self.own - self.base

    @property
    def tone(self) -> str:
        """better, worse or same, beyond noise."""
        gap = self.gap
        if gap is None or not self.noise_known or abs(gap) <= self.noise:
            return "same"
        return "better" if gap > 0 else "worse"

    @property
    def words(self) -> str:
        """The composite of both, and the difference."""
        if self.gap is None:
            return ""
        return f"{signed(self.gap)} composite: {self.base:.1f} → {self.own:.1f}"

    @property
    def parts(self) -> str:
        """What the composites are made of."""
        if self.gap is None:
            return ""
        base, own = (parts_of(self.of(each)) for each in (self.baseline, self.configuration))
        return (
            f"First pass {base[0]:.1f} → {own[0]:.1f}, "
            f"checks and criteria met {share_text(base[1])} → {share_text(own[1])}."
        )

    def of(self, configuration: Configuration | None) -> list[CellRun]:
        return [run for run in self.runs if configuration and run.row.configuration_id == configuration.pk]

    @property
    def readable(self) -> list[CellRun]:
        """The runs whose texts can be compared."""
        return [run for run in self.runs if run.row.run_id is not None and run.value is not None]


def task_at(experiment: Experiment, position: int) -> SuiteTask | None:
    return SuiteTask.objects.filter(version=experiment.suite_version_id, position=position).first()


def cell_facts(
    experiment: Experiment,
    task: SuiteTask,
    configurations: Sequence[Configuration],
    report: Mapping[str, Any] | None,
    wanted: int | None,
) -> CellFacts:
    """The task under the wanted configuration, by default the one with the largest loss."""
    runs = runs_of(experiment, task)
    baseline = next((each for each in configurations if each.baseline), None)
    compared, worst = Compared.of(report), worst_cells(report)
    configuration = chosen(configurations, compared, task, wanted)
    own, base = (values_of(runs, each) for each in (configuration, baseline))
    key = (task.key, configuration.pk)
    differing = rulers_differ(ruler_of(baseline), ruler_of(configuration)) if baseline else []
    rank = worst.index(key) + 1 if key in worst else 0
    return CellFacts(
        task=task,
        runs=runs,
        configuration=configuration,
        baseline=baseline,
        own=mean(own),
        base=mean(base),
        noise=compared.noise,
        noise_known=compared.is_measured,
        agreement=agreement(own, base),
        previous=worst[rank - 2] if rank > 1 else None,
        following=worst[rank] if rank < len(worst) else None,
        rank=rank,
        regressions=len(worst),
        differs=listed([f"the {name}" for name in differing]) if differing else "",
    )


def chosen(
    configurations: Sequence[Configuration], compared: Compared, task: SuiteTask, wanted: int | None
) -> Configuration:
    by_id = {each.pk: each for each in configurations}
    if wanted in by_id:
        return by_id[wanted]
    others = [each for each in configurations if not each.baseline] or list(configurations)
    return min(others, key=lambda each: compared.cells.get((task.key, each.pk), 0.0))


def runs_of(experiment: Experiment, task: SuiteTask) -> tuple[CellRun, ...]:
    rows = ExperimentRun.objects.filter(experiment=experiment, task=task, replaced=False)
    rows = rows.select_related("configuration", "run").defer("run__task", "run__seed", "run__snapshot")
    return tuple(
        CellRun(
            row,
            composite_value(row.r1, row.criteria_met, row.criteria_total)
            if row.state == CellState.DONE
            else None,
        )
        for row in rows.order_by("configuration__position", "repeat")[:MOST_ROWS]
    )


def values_of(runs: Sequence[CellRun], configuration: Configuration | None) -> list[float]:
    return [
        run.value
        for run in runs
        if configuration and run.row.configuration_id == configuration.pk and run.value is not None
    ]


def parts_of(runs: Sequence[CellRun]) -> tuple[float, float]:
    """The mean first score and the mean share of checks and criteria that were met, of the scored runs."""
    rows = [run.row for run in runs if run.value is not None]
    rates = [row.criteria_met / row.criteria_total if row.criteria_total else 1.0 for row in rows]
    return mean([float(row.r1 or 0) for row in rows]) or 0.0, mean(rates) or 0.0


def mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def agreement(own: Sequence[float], base: Sequence[float]) -> str:
    """Whether the repeats of the two overlap."""
    if len(own) < 2 or len(base) < 2:
        return ""
    if max(own) < min(base) or min(own) > max(base):
        return "All repeats agree on it."
    return "The repeats overlap."


# --- details of the two -----------------------------------------------------------------------------
def sides_for(project: Project, facts: CellFacts, first: int, second: int) -> list[Side]:
    """The two chosen runs first, then other repeats of both configurations.

    Repeats of a configuration share a colour; later ones are dashed.
    """
    drawn = [
        run.row.run_id
        for configuration in (facts.baseline, facts.configuration)
        for run in facts.of(configuration)[:MOST_EACH]
        if run.value is not None
    ]
    numbers = [number for number in dict.fromkeys([first, second, *drawn]) if number]
    places = {run.row.run_id: run.row for run in facts.runs}
    return [replace(side, slot=slot_of(places[side.run.pk])) for side in sides_of(project, numbers)]


def slot_of(row: ExperimentRun) -> int:
    return (row.configuration.position - 1) % SERIES + 1 + SERIES * ((row.repeat - 1) % 3)


def chart_of(facts: CellFacts, sides: Sequence[Side], *, width: int, height: int) -> TrajectoryChart | None:
    """Composites by round of both configurations; None on different scales or without judged rounds."""
    names = {run.row.run_id: run.name for run in facts.runs}
    drawn = [side for side in sides if side.composites]
    if not drawn or not one_scale(drawn):
        return None
    marks = {side.rubric.policy.pass_threshold for side in drawn}
    most = max(len(side.composites) for side in drawn)
    return trajectory_chart(
        [
            Series(
                names[side.run.pk],
                side.composites,
                side.slot,
                strong=side.slot <= SERIES,
                band=side.run.smallest_difference if side.slot <= SERIES else None,
                band_until=side.run.escalated_after or None,
            )
            for side in drawn
        ],
        drawn[0].rubric.scale,
        marks.pop() if len(marks) == 1 else None,
        [],
        labels=[f"Round {number}" for number in range(1, most + 1)],
        decimals=drawn[0].rubric.policy.composite_decimals,
        title="Judge's score by round",
        name=f"cell-chart-{width}",
        width=width,
        height=height,
        ends=True,
    )


def criteria_gaps(facts: CellFacts, sides: Sequence[Side]) -> list[CriterionGap]:
    """The criteria of both best rounds, those that lost most first."""
    owner = {run.row.run_id: run.row.configuration_id for run in facts.runs}
    if facts.baseline is None or facts.gap is None or not one_scale(sides):
        return []
    names: dict[str, str] = {}
    scores: dict[tuple[str, int], list[Decimal]] = {}
    for side in sides:
        for criterion in side.rubric.criteria:
            names.setdefault(criterion.key, criterion.name)
            if (score := (side.scores or {}).get(criterion.key)) is not None:
                scores.setdefault((criterion.key, owner[side.run.pk]), []).append(Decimal(score))
    scale, found = sides[0].rubric.scale, []
    for key, name in names.items():
        base, own = (scores.get((key, each.pk)) for each in (facts.baseline, facts.configuration))
        if base and own:
            found.append(
                gap_of(key, name, average(base), average(own), float(scale.minimum), float(scale.maximum))
            )
    return sorted(found, key=lambda each: each.gap)


def average(values: Sequence[Decimal]) -> Decimal:
    return sum(values, Decimal(0)) / len(values)


def gap_of(key: str, name: str, base: Decimal, own: Decimal, low: float, high: float) -> CriterionGap:
    change = score_change(own, base)
    return CriterionGap(
        name=name,
        base=score_text(base),
        own=score_text(own),
        base_x=place(float(base), low, high),
        own_x=place(float(own), low, high),
        change=change or "0",
        tone={"+": "ok", "−": "bad"}.get(change[:1], ""),
        gap=own - base,
        key=key,
    )


def reasons_of(side: Side, gaps: Sequence[CriterionGap]) -> list[Reason]:
    """What the first judge said about the criteria that lost most, in the best round of the run."""
    lost = [gap for gap in gaps if gap.gap < 0][:MOST_REASONS]
    if not lost or side.run.best_round is None:
        return []
    verdict = (
        Verdict.objects.filter(round__run=side.run, round__number=side.run.best_round)
        .order_by("position")
        .first()
    )
    said = {entry["key"]: entry for entry in verdict.scores} if verdict else {}
    return [
        Reason(
            gap.name, str(said[gap.key]["score"]), str(said[gap.key].get("reasoning", ""))[:MOST_REASON_CHARS]
        )
        for gap in lost
        if gap.key in said
    ]


def failed_checks(first: Side, second: Side) -> list[str]:
    """What the second run's best round fails that the first one's passes."""
    passed, failed = (
        dict(
            CheckResult.objects.filter(round__run=side.run, round__number=side.run.best_round or 0)
            .order_by("position")
            .values_list("key", "passed")
        )
        for side in (first, second)
    )
    return [key for key, ok in failed.items() if not ok and passed.get(key)]
