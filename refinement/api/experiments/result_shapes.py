"""Shapes of an experiment's results."""

from datetime import datetime
from typing import Any, Literal

from ninja import Field, Schema

Verdict = Literal["better", "worse", "no_difference", "not_enough", "not_comparable"]


VERDICTS = "not_enough: fewer than 5 tasks; not_comparable: another judge, board or rubric version."


class IntervalShape(Schema):
    """A mean over tasks with its 95 % interval; without one if there is only one task."""

    value: float = Field(examples=[7.86])
    low: float | None = Field(examples=[7.61])
    high: float | None = Field(examples=[8.11])


class ComparisonShape(Schema):
    """The difference from the baseline over tasks that both scored.

    The interval is wide enough that all comparisons of the experiment together mislead in at most 5 %.
    """

    difference: float | None = Field(examples=[0.41])
    low: float | None
    high: float | None
    verdict: Verdict = Field(description=VERDICTS)
    tasks: int = Field(description="Tasks that both scored.")


class ChangeShape(Schema):
    """A setting that differs."""

    setting: str = Field(examples=["producer"])
    before: str
    after: str


class TypeFigures(Schema):
    """A configuration's figures on one task type."""

    id: int
    letter: str = Field(examples=["B"])
    name: str
    baseline: bool
    scored: int = Field(description="Scored runs.")
    composite: IntervalShape | None = Field(description="0.7 × mean r1 + 0.3 × criteria rate × 10.")
    mean_r1: IntervalShape | None = Field(description="Scores of the first round, on a scale from 0 to 10.")
    criteria_rate: IntervalShape | None = Field(description="Share of checks and criteria met.")
    pass_rate: IntervalShape | None
    against_baseline: ComparisonShape | None = Field(description="null for the baseline.")


class ConfigurationFigures(TypeFigures):
    """A configuration's figures over all tasks."""

    judge: str = Field("", description="Its judge's model; empty if only checks decide.")
    judge_proven: bool | None = Field(
        None, description="Whether its judge has what the project requires; null if it requires nothing."
    )
    unproven_reason: str = Field("", description="Why its judge is not proven.")
    changes: list[ChangeShape] = Field(description="Settings that differ from the baseline's.")
    runs: int
    done: int = Field(description="Ended runs, also without a score.")
    unscored: int
    errors: int
    missing: int = Field(description="Not started, running or stopped.")
    best: IntervalShape | None
    rounds: IntervalShape | None
    tokens: IntervalShape | None
    seconds: IntervalShape | None
    cost: IntervalShape | None


class TaskTypeFigures(Schema):
    """The figures on the tasks of one type."""

    task_type: str
    tasks: int
    configurations: list[TypeFigures]


class CellShape(Schema):
    """A task under a configuration, with all repeats."""

    task: str = Field(description="The task's key.")
    position: int = Field(description="Of the task in the suite.")
    configuration: int
    value: float | None = Field(description="Mean composite of its scored repeats.")
    low: float | None = Field(description="Of its lowest repeat.")
    high: float | None
    scored: int
    difference: float | None = Field(description="From the baseline on the same task.")
    spread_is_noise: bool = Field(description="Repeats alone differ as much as this difference.")
    state: Literal["done", "unscored", "error", "missing", "waiting"]


class NoiseShape(Schema):
    """How much runs of the same cell differ by chance."""

    deviation: float = Field(
        description="Standard deviation of a single run: of repeats, and at least of the judge's retests."
    )
    smallest_difference: float = Field(description="Between two cells, that noise does not explain.")
    cells: int = Field(description="Cells with several scored repeats; 0 if there are too few.")
    judge_difference: float | None = Field(
        None, description="The judge's smallest real difference from 0 to 10; null if it is unknown."
    )


class JudgeShape(Schema):
    """What is known about a judge of the experiment."""

    id: int
    name: str
    labels: int = Field(description="Texts that people and the judge scored.")
    kappa: float | None = Field(description="Agreement with people; null if it is unknown.")
    smallest_difference: float | None = Field(
        description="Smallest real difference between two of its scores, from 0 to 10; null if it is unknown."
    )


class ResultsShape(Schema):
    """The figures of an experiment."""

    experiment: int
    name: str
    suite: str
    version: int = Field(description="The suite's version.")
    tasks: int
    repeats: int
    configurations: list[ConfigurationFigures]
    task_types: list[TaskTypeFigures] = Field(description="Empty unless there are several.")
    cells: list[CellShape]
    noise: NoiseShape | None = Field(description="null without enough repeats, if the judge's is unknown.")
    judges: list[JudgeShape] = Field(default_factory=list)
    headline: str
    comparisons: int = Field(description="Comparisons that share the 5 % of misleading ones.")
    chance: str


class Computed(Schema):
    """Figures that a worker computes, and their age."""

    status: Literal["queued", "running", "waiting", "done", "failed"]
    is_current: bool = Field(description="False if the figures do not include the newest runs.")
    computed_at: datetime | None
    error: str = Field(description="Why they could not be computed.")


class StoredResultsShape(Computed):
    """The experiment's figures."""

    results: ResultsShape | None = Field(description="null until they are computed.")


class ExperimentNamed(Schema):
    """An experiment that is compared."""

    id: int
    name: str
    version: int
    created_at: datetime


class DescribedConfiguration(Schema):
    """A configuration and what it runs."""

    id: int
    letter: str
    name: str
    settings: dict[str, str] = Field(examples=[{"rubric": "wiggum@3", "producer": "ollama/qwen3:14b"}])


class RegressionShape(Schema):
    """A task that scored less than before."""

    task: str
    difference: float
    value: float
    other: float
    run: int | None
    other_run: int | None


class PairShape(Schema):
    """A configuration and its counterpart in the other experiment."""

    configuration: DescribedConfiguration
    other: DescribedConfiguration | None
    matched_by: Literal["exact", "name", "models", "baseline", ""]
    not_comparable: str = Field(
        "", description="What changed in how texts are measured: the judge, the board or the rubric version."
    )
    against_baseline: ComparisonShape | None
    changes: list[ChangeShape]
    regressions: list[RegressionShape] = Field(description="The tasks that lost most, worst first.")


class ComparedExperiments(Schema):
    """Two experiments on the tasks that are the same in both."""

    experiment: ExperimentNamed
    other: ExperimentNamed
    suite: str
    tasks: int
    changed_tasks: list[str]
    tasks_only_here: list[str]
    tasks_only_there: list[str]
    pairs: list[PairShape]
    headline: str


class StoredComparisonShape(Computed):
    """The comparison of two experiments."""

    comparison: ComparedExperiments | None = Field(description="null until it is computed.")


class HistoryPoint(Schema):
    """A configuration of an experiment."""

    experiment: int
    name: str
    at: datetime
    status: str
    suite_version: int
    configuration: int
    letter: str
    configuration_name: str
    settings: dict[str, str]
    line: str
    scored: int
    composite: IntervalShape | None
    mean_r1: IntervalShape | None
    criteria_rate: IntervalShape | None
    pass_rate: IntervalShape | None


class HistoryLine(Schema):
    """Points that ran the same."""

    line: str
    label: str
    points: int


class HistoryShape(Schema):
    """A suite over time."""

    suite: str
    by: str
    points: list[HistoryPoint] = Field(description="Oldest first, of the newest 50 experiments.")
    lines: list[HistoryLine]


class CellRun(Schema):
    """One repeat of a cell."""

    task: str
    task_type: str
    letter: str
    configuration: str
    baseline: bool
    repeat: int
    state: Literal["waiting", "running", "done", "unscored", "error", "cancelled"]
    run: int | None = Field(description="null until it is started.")
    r1: float | None
    criteria_met: int | None
    criteria_total: int | None
    criteria_rate: float | None
    composite: float | None
    passed: bool | None
    best: float | None
    rounds: int
    tokens: int
    seconds: float
    cost: float | None
    problem: str


class CellRuns(Schema):
    """The repeats of a cell."""

    runs: list[CellRun]


def stored_values(stored: Any, name: str) -> dict[str, Any]:
    return {
        "status": stored.status or "queued",
        "is_current": stored.is_current,
        "computed_at": stored.computed_at,
        "error": stored.error,
        name: stored.result,
    }
