"""What an experiment may cost before it is launched: calls, tokens, time and money, as ranges."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from refinement.engine.types import OnPlateau, Rubric
from refinement.models import Project
from refinement.providers.registry import EndpointSpec, Target
from refinement.selectors.endpoints import endpoint_specs
from refinement.selectors.experiments.windows import WITHOUT_WORKERS, threads_online
from refinement.selectors.launch.costs import CostEstimate, cost_estimate
from refinement.selectors.launch.estimates import Range, estimate_of, two_digits
from refinement.selectors.launch.judging import Judging, judging_of
from refinement.selectors.launch.paces import Paces, paces_in, seconds_of
from refinement.selectors.launch.plans import models_of
from refinement.selectors.prices import prices_for
from refinement.selectors.projects.budgets import Budget, budget_of

MOST_GROUPS = 12  # of tasks with similar lengths


@dataclass(frozen=True, slots=True)
class TaskSizes:
    """The lengths of a task's texts, in characters."""

    task: int
    seed: int = 0
    sources: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        return self.task + self.seed + sum(self.sources)


@dataclass(frozen=True, slots=True)
class Planned:
    """A configuration as far as it is filled in. `definition` is its rubric with its changes."""

    name: str
    definition: Rubric
    producer: Target | None
    judge: Target | None
    clerk: Target | None = None
    sources: tuple[int, ...] = ()  # the lengths of its own sources


@dataclass(frozen=True, slots=True)
class ConfigurationEstimate:
    """One configuration's part, for all tasks and repeats."""

    name: str
    runs: int
    calls: Range
    tokens: Range
    seconds: Range | None  # of all runs one after the other; None if a model was not used here yet
    cost: CostEstimate | None
    asks: bool  # its runs pause on a plateau until a person decides


@dataclass(frozen=True, slots=True)
class ExperimentEstimate:
    """From runs that stop as early as possible to runs that use every round. Retries are not included."""

    configurations: tuple[ConfigurationEstimate, ...]
    runs: int
    calls: Range
    tokens: Range
    seconds: Range | None  # until the last run has ended, if nothing else runs
    cost: CostEstimate | None
    at_once: int  # how many runs are carried out at the same time
    workers: bool  # whether any worker is online
    token_budget: int | None
    project_budget: Budget

    @property
    def over_budget(self) -> bool:
        """Whether the token budget may end before the experiment does."""
        return self.token_budget is not None and self.tokens.high > self.token_budget


def experiment_estimate(
    *,
    project: Project,
    configurations: Sequence[Planned],
    tasks: Sequence[TaskSizes],
    repeats: int,
    token_budget: int | None = None,
) -> ExperimentEstimate:
    """The estimate for every task under every configuration.

    Tasks of similar length are estimated together: their number does not matter for the time this takes.
    """
    groups = groups_of(tasks)
    known = Known(paces_in(project), endpoint_specs())
    found = tuple(configuration_estimate(planned, groups, repeats, known) for planned in configurations)
    threads = threads_online()
    at_once = runs_at_once(threads or WITHOUT_WORKERS, configurations, known.specs)
    runs = sum(entry.runs for entry in found)
    return ExperimentEstimate(
        configurations=found,
        runs=runs,
        calls=ranges_sum([entry.calls for entry in found]),
        tokens=rounded(ranges_sum([entry.tokens for entry in found])),
        seconds=wall_of(found, min(at_once, runs) or 1),
        cost=costs_sum([entry.cost for entry in found]),
        at_once=at_once,
        workers=threads > 0,
        token_budget=token_budget,
        project_budget=budget_of(project),
    )


@dataclass(frozen=True, slots=True)
class Known:
    """What is the same for all configurations, from one query each."""

    paces: Paces
    specs: Sequence[EndpointSpec]


@dataclass(frozen=True, slots=True)
class Group:
    """Tasks of similar length: their mean lengths, and how many they are."""

    sizes: TaskSizes
    count: int


def groups_of(tasks: Sequence[TaskSizes]) -> list[Group]:
    """At most a dozen groups; tasks with and without a starting text are never in the same one."""
    seeded = sorted((task for task in tasks if task.seed), key=lambda task: task.total)
    others = sorted((task for task in tasks if not task.seed), key=lambda task: task.total)
    groups: list[Group] = []
    for alike in (seeded, others):
        step = max(1, -(-2 * len(alike) // MOST_GROUPS))
        groups += [group_of(alike[start : start + step]) for start in range(0, len(alike), step)]
    return groups


def group_of(tasks: Sequence[TaskSizes]) -> Group:
    count = len(tasks)
    sources = -(-sum(sum(task.sources) for task in tasks) // count)
    sizes = TaskSizes(
        task=-(-sum(task.task for task in tasks) // count),
        seed=-(-sum(task.seed for task in tasks) // count),
        sources=(sources,) if sources else (),
    )
    return Group(sizes, count)


def configuration_estimate(
    planned: Planned, groups: Sequence[Group], repeats: int, known: Known
) -> ConfigurationEstimate:
    parts = [part_of(planned, group, repeats, known) for group in groups]
    seconds = [part.seconds for part in parts if part.seconds is not None]
    return ConfigurationEstimate(
        name=planned.name,
        runs=sum(group.count for group in groups) * repeats,
        calls=ranges_sum([part.calls for part in parts]),
        tokens=rounded(ranges_sum([part.tokens for part in parts])),
        seconds=ranges_sum(seconds) if parts and len(seconds) == len(parts) else None,
        cost=costs_sum([part.cost for part in parts]),
        asks=asks_person(planned.definition),
    )


@dataclass(frozen=True, slots=True)
class Part:
    """A group of tasks under one configuration."""

    calls: Range
    tokens: Range
    seconds: Range | None
    cost: CostEstimate | None


def part_of(planned: Planned, group: Group, repeats: int, known: Known) -> Part:
    sizes, runs = group.sizes, group.count * repeats
    judging = judging_of(planned.definition, seed_chars=sizes.seed, judge=planned.judge, clerk=planned.clerk)
    estimate = estimate_of(
        planned.definition,
        task_chars=sizes.task,
        seed_chars=sizes.seed,
        source_chars=(*sizes.sources, *planned.sources),
        repeats=runs,
        judging=judging,
    )
    drafts = 0 if sizes.seed else 1
    seconds = seconds_of(estimate, judging, planned.producer, known.paces, known.specs, drafts=drafts)
    prices = prices_for(models_of(judging, planned.producer, None))
    return Part(
        calls=with_plateau(estimate.calls, estimate.more_calls),
        tokens=with_plateau(estimate.tokens, estimate.more_tokens),
        seconds=seconds.times(runs) if seconds else None,
        cost=cost_estimate(estimate, judging, planned.producer, prices),
    )


def with_plateau(amount: Range, more: int) -> Range:
    """The amount with what a board adds that takes over on a plateau."""
    return Range(amount.low, amount.high + more)


def asks_person(rubric: Rubric) -> bool:
    """Whether a plateau pauses a run until a person decides, so that an experiment may wait for people."""
    judging: Judging = judging_of(rubric, seed_chars=0, judge=None)
    return judging.may_escalate and rubric.policy.on_plateau is OnPlateau.ASK


def runs_at_once(threads: int, configurations: Sequence[Planned], specs: Sequence[EndpointSpec]) -> int:
    """How many runs make calls at the same time: one per thread, within the endpoints' limits."""
    limits = {spec.name: spec.concurrency for spec in specs}
    named = {
        target.endpoint
        for planned in configurations
        for target in (planned.producer, planned.judge)
        if target is not None
    }
    counted = [limits.get(name) for name in named]
    limit = sum(each for each in counted if each is not None)
    return threads if not counted or None in counted else max(1, min(threads, limit))


def wall_of(found: Sequence[ConfigurationEstimate], at_once: int) -> Range | None:
    """The time until the last run has ended; None if a model's pace is not known."""
    seconds = [entry.seconds for entry in found if entry.seconds is not None]
    if not seconds or len(seconds) < len(found):
        return None
    total = ranges_sum(seconds)
    return Range(-(-total.low // at_once), -(-total.high // at_once))


def ranges_sum(ranges: Sequence[Range]) -> Range:
    return Range(sum(entry.low for entry in ranges), sum(entry.high for entry in ranges))


def rounded(amount: Range) -> Range:
    return Range(two_digits(amount.low), two_digits(amount.high))


def costs_sum(costs: Sequence[CostEstimate | None]) -> CostEstimate | None:
    """The cost of the models with a price; None if there are none."""
    known = [cost for cost in costs if cost is not None]
    if not known:
        return None
    return CostEstimate(
        low=sum((cost.low for cost in known), Decimal(0)),
        high=sum((cost.high for cost in known), Decimal(0)),
        priced=list(dict.fromkeys(model for cost in known for model in cost.priced)),
        all_priced=len(known) == len(costs) and all(cost.all_priced for cost in known),
    )
