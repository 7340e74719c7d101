"""A planned launch: who judges, what it may cost, and whom it calls."""

from collections.abc import Sequence
from dataclasses import dataclass

from refinement.engine.types import Rubric
from refinement.judging.demo_limits import limited_for_demo
from refinement.models import Project
from refinement.providers.embedded import is_demo
from refinement.providers.registry import Target
from refinement.selectors.endpoints import endpoint_specs
from refinement.selectors.launch.contexts import TextSizes
from refinement.selectors.launch.costs import CostEstimate, cost_estimate
from refinement.selectors.launch.estimates import Estimate, Range, estimate_of
from refinement.selectors.launch.judging import Judging, judging_of, panel_judges
from refinement.selectors.launch.paces import paces_in, seconds_of
from refinement.selectors.prices import prices_for
from refinement.selectors.projects.budgets import NO_BUDGET, Budget, budget_of
from refinement.selectors.workers import workers_alive

HELD_OUT = "held-out judge"  # its role in `Plan.called`


@dataclass(frozen=True, slots=True)
class Plan:
    """The planned launch, as far as it is filled in."""

    seed_chars: int
    producer: Target | None
    judge: Target | None
    judging: Judging
    estimate: Estimate
    workers: int
    task_chars: int = 0
    source_chars: Sequence[int] = ()
    budget: Budget = NO_BUDGET
    cost: CostEstimate | None = None  # None if no model of the run has a price
    held_out: Target | None = None  # None also for a rubric that no model judges
    seconds: Range | None = None  # of one run; None if its models have not been used here yet

    @property
    def sizes(self) -> TextSizes:
        return TextSizes(self.task_chars, self.seed_chars, self.source_chars)

    @property
    def rubric(self) -> Rubric:
        return self.judging.rubric

    @property
    def judges(self) -> list[tuple[str, Target]]:
        """The name and model of each judge that scores. A panel that is not composed yet uses one model."""
        if not self.rubric.criteria:
            return []
        named = [(entry.name, entry.target) for entry in self.judging.judges] or [("Judge", self.judge)]
        return [(name, target) for name, target in named if target is not None]

    @property
    def called(self) -> list[tuple[str, Target]]:
        """Every role with its model, as far as it can be called in this run; each model once."""
        producer = [("producer", self.producer)] if self.producer else []
        judging, roles = self.judging, list(self.judges)
        if judging.may_escalate and not judging.is_board:
            later = panel_judges(self.rubric, self.judge)
            roles += [(entry.name, entry.target) for entry in later if entry.target]
        if judging.clerk and (judging.has_clerk or judging.may_escalate):
            roles.append(("clerk", judging.clerk))
        if self.held_out:
            roles.append((HELD_OUT, self.held_out))
        first = {target: name for name, target in reversed(roles)}
        judged = [(name, target) for name, target in roles if first[target] == name]
        return [*producer, *dict.fromkeys(judged)]


def plan_of(
    project: Project,
    definition: Rubric,
    *,
    task_chars: int,
    seed_chars: int,
    source_chars: Sequence[int],
    producer: Target | None,
    judge: Target | None,
    clerk: Target | None,
    held_out: Target | None = None,
    repeats: int,
) -> Plan:
    """The plan for a launch with these texts and models. `clerk` is None for the rubric's or the judge's."""
    definition = limited_for_demo(definition, writes=is_demo_target(producer), judges=is_demo_target(judge))
    judging = judging_of(definition, seed_chars=seed_chars, judge=judge, clerk=clerk)
    held_out = held_out if definition.criteria else None
    estimate = estimate_of(
        definition,
        task_chars=task_chars,
        seed_chars=seed_chars,
        source_chars=source_chars,
        repeats=repeats,
        judging=judging,
        held_out=held_out is not None,
    )
    drafts = 0 if seed_chars else 1
    paces, specs = paces_in(project), endpoint_specs()
    return Plan(
        seed_chars=seed_chars,
        producer=producer,
        judge=judge,
        judging=judging,
        estimate=estimate,
        workers=workers_alive(),
        task_chars=task_chars,
        source_chars=source_chars,
        budget=budget_of(project),
        cost=cost_estimate(
            estimate, judging, producer, prices_for(models_of(judging, producer, held_out)), held_out
        ),
        held_out=held_out,
        seconds=seconds_of(estimate, judging, producer, paces, specs, drafts=drafts),
    )


def is_demo_target(target: Target | None) -> bool:
    return target is not None and is_demo(target.endpoint, target.model)


def models_of(judging: Judging, producer: Target | None, held_out: Target | None = None) -> list[Target]:
    """All models that the run may call."""
    named = [producer, judging.judge, judging.clerk, held_out, *(judge.target for judge in judging.judges)]
    return [target for target in named if target is not None]
