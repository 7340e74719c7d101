"""The bodies and responses of experiments."""

from datetime import datetime
from decimal import Decimal

from ninja import Field, Schema

from refinement.api.runs.estimates import CostShape, RangeShape
from refinement.api.runs.runs import GivenSource
from refinement.models import Configuration, Experiment, ExperimentRun, ExperimentStatus
from refinement.selectors.experiments.estimates import ConfigurationEstimate, ExperimentEstimate
from refinement.selectors.experiments.progress import progress_of
from refinement.selectors.launch.costs import CostEstimate
from refinement.selectors.launch.estimates import Range
from refinement.selectors.rubrics.definitions import plain
from refinement.services.experiments.checking import CONFIGURATION_NAME_CHARS, MOST_REPEATS, NAME_CHARS

LARGEST_NUMBER = 2**31 - 1
MOST_GIVEN = 50  # configurations in a body; the service has the limit, in words
MOST_CHANGES = 100
Value = str | int | float | bool | list[str] | None


class ConfigurationNew(Schema):
    """A rubric version with changes, and the models that use it."""

    name: str = Field(max_length=CONFIGURATION_NAME_CHARS * 2, examples=["Strict, qwen3"])
    rubric: str = Field(max_length=100, description="A slug, or slug@version.", examples=["wiggum@3"])
    producer: str = Field(max_length=400, description="endpoint/model", examples=["ollama/qwen3:4b"])
    judge: str = Field(
        "", max_length=400, description="Required if the rubric has criteria.", examples=["ollama/gemma3:12b"]
    )
    clerk: str = Field("", max_length=400, description="By default the rubric's, or else the judge's.")
    set: dict[str, Value] = Field(
        {},
        max_length=MOST_CHANGES,
        description="Changes to the rubric by dotted path, and `templates.NAME` for a prompt template.",
        examples=[{"policy.max_rounds": 2}],
    )
    sources: list[GivenSource] = Field([], description="Added to the sources of each task.")
    baseline: bool = Field(False, description="Others are compared with it. By default the first one.")


class ExperimentNew(Schema):
    """A suite under several configurations."""

    name: str = Field(max_length=NAME_CHARS * 2, examples=["Judges in March"])
    suite: str = Field(max_length=100, description="A slug, or slug@version.", examples=["how-to@2"])
    configurations: list[ConfigurationNew] = Field(max_length=MOST_GIVEN)
    repeats: int = Field(1, ge=1, le=MOST_REPEATS, description="Runs of each task under each configuration.")
    token_budget: int | None = Field(
        None, ge=1, le=2**62, description="The experiment pauses itself when it has used these tokens."
    )
    note: str = Field("", max_length=4_000)


class Resume(Schema):
    """How to resume."""

    token_budget: int | None = Field(
        None, ge=1, le=2**62, description="A new token budget; needed if the old one is used up."
    )


class BudgetNew(Schema):
    """A token budget; null removes it."""

    token_budget: int | None = Field(None, ge=1, le=2**62)


class BaselineNew(Schema):
    """Which configuration the others are compared with."""

    configuration: int = Field(ge=1, le=LARGEST_NUMBER, description="The configuration's ID.")


class ConfigurationShape(Schema):
    """A configuration."""

    id: int
    letter: str = Field(examples=["A"])
    name: str
    baseline: bool
    rubric: str = Field(description="slug@version", examples=["wiggum@3"])
    set: dict[str, str]
    sources: list[str] = Field(description="Names.")
    producer: str = Field(description="endpoint/model")
    judge: str
    clerk: str | None


class ExperimentLine(Schema):
    """An experiment in a list."""

    id: int
    name: str
    status: str = Field(description=f"One of {', '.join(ExperimentStatus.values)}.")
    status_reason: str = Field(description="Why it paused itself, such as a used-up budget.")
    suite: str = Field(description="slug@version", examples=["how-to@2"])
    repeats: int
    token_budget: int | None
    note: str
    created_by: str | None
    created_at: datetime
    finished_at: datetime | None


class ExperimentShape(ExperimentLine):
    """An experiment with its configurations and progress."""

    configurations: list[ConfigurationShape]
    runs: int
    states: dict[str, int] = Field(
        description="Runs by state: waiting (not started), running, done, unscored, error or cancelled."
    )
    tokens: int = Field(description="Of ended runs.")
    cost: str | None = Field(description="Of ended runs with a price.")


class MissingShape(ExperimentShape):
    """The experiment after “run what is missing”."""

    started: int = Field(description="How many runs are run again or for the first time.")


class ExperimentRunShape(Schema):
    """One repeat of a task under a configuration. Scores are from 0 to 10, whatever the rubric's scale."""

    id: int
    task: str = Field(description="The task's key.")
    configuration: int = Field(description="The configuration's ID.")
    repeat: int
    state: str
    run: int | None = Field(description="Null until it is started.")
    problem: str = Field(description="Why there is no result.")
    r1: str | None
    best: str | None
    criteria_met: int
    criteria_total: int
    passed: bool
    rounds: int
    tokens: int
    seconds: str
    cost: str | None


class ConfigurationEstimateShape(Schema):
    """A configuration's part."""

    name: str
    runs: int
    calls: RangeShape
    tokens: RangeShape
    cost: CostShape | None
    asks: bool = Field(description="Its runs pause on a plateau until a person decides.")


class ExperimentEstimateShape(Schema):
    """From runs that stop as early as possible to runs that use every round. Retries are not included."""

    runs: int
    calls: RangeShape
    tokens: RangeShape
    seconds: RangeShape | None = Field(description="Until the last run has ended; null for unknown models.")
    cost: CostShape | None
    at_once: int = Field(description="Runs that are carried out at the same time.")
    over_budget: bool = Field(description="Whether the token budget may be used up before the end.")
    configurations: list[ConfigurationEstimateShape]


def experiment_line(row: Experiment) -> dict[str, object]:
    version = row.suite_version
    return {
        "id": row.pk,
        "name": row.name,
        "status": row.status,
        "status_reason": row.status_reason,
        "suite": f"{version.suite.slug}@{version.number}",
        "repeats": row.repeats,
        "token_budget": row.token_budget,
        "note": row.note,
        "created_by": row.created_by.display_name if row.created_by else None,
        "created_at": row.created_at,
        "finished_at": row.finished_at,
    }


def experiment_values(row: Experiment) -> dict[str, object]:
    progress = progress_of(row)
    configurations = row.configurations.select_related("rubric_version__rubric")
    return {
        **experiment_line(row),
        "configurations": [configuration_shape(each) for each in configurations],
        "runs": progress.total,
        "states": dict(progress.states),
        "tokens": progress.tokens,
        "cost": text_of(progress.cost),
    }


def experiment_shape(row: Experiment) -> ExperimentShape:
    return ExperimentShape.model_validate(experiment_values(row))


def configuration_shape(row: Configuration) -> ConfigurationShape:
    version = row.rubric_version
    return ConfigurationShape(
        id=row.pk,
        letter=row.letter,
        name=row.name,
        baseline=row.baseline,
        rubric=f"{version.rubric.slug}@{version.number}",
        set=row.changes,
        sources=[source["name"] for source in row.sources],
        producer=f"{row.producer_endpoint}/{row.producer_model}",
        judge=f"{row.judge_endpoint}/{row.judge_model}",
        clerk=f"{row.clerk_endpoint}/{row.clerk_model}" if row.clerk_model else None,
    )


def experiment_run_shape(row: ExperimentRun, *, hidden: bool) -> ExperimentRunShape:
    """Without scores, and what tells them, if the reader scores a run of the experiment blind."""
    return ExperimentRunShape(
        id=row.pk,
        task=row.task.key,
        configuration=row.configuration_id,
        repeat=row.repeat,
        state=row.state,
        run=row.run_id,
        problem=row.problem,
        r1=None if hidden else text_of(row.r1),
        best=None if hidden else text_of(row.best),
        criteria_met=0 if hidden else row.criteria_met,
        criteria_total=0 if hidden else row.criteria_total,
        passed=not hidden and row.passed,
        rounds=0 if hidden else row.rounds,
        tokens=0 if hidden else row.tokens,
        seconds="0" if hidden else plain(row.seconds),
        cost=None if hidden else text_of(row.cost),
    )


def text_of(number: Decimal | None) -> str | None:
    return None if number is None else plain(number)


def estimate_shape(found: ExperimentEstimate) -> ExperimentEstimateShape:
    return ExperimentEstimateShape(
        runs=found.runs,
        calls=range_shape(found.calls),
        tokens=range_shape(found.tokens),
        seconds=range_shape(found.seconds) if found.seconds else None,
        cost=cost_shape(found.cost),
        at_once=found.at_once,
        over_budget=found.over_budget,
        configurations=[part_shape(part) for part in found.configurations],
    )


def part_shape(part: ConfigurationEstimate) -> ConfigurationEstimateShape:
    return ConfigurationEstimateShape(
        name=part.name,
        runs=part.runs,
        calls=range_shape(part.calls),
        tokens=range_shape(part.tokens),
        cost=cost_shape(part.cost),
        asks=part.asks,
    )


def range_shape(amount: Range) -> RangeShape:
    return RangeShape(low=amount.low, high=amount.high)


def cost_shape(cost: CostEstimate | None) -> CostShape | None:
    return CostShape(low=plain(cost.low), high=plain(cost.high)) if cost else None
