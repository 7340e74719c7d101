"""What an estimate needs of stored tasks and checked configurations."""

from collections.abc import Sequence
from typing import Protocol

from refinement.engine.types import Rubric
from refinement.judging.sources import SourceText
from refinement.models import SuiteTask
from refinement.providers.registry import Target
from refinement.selectors.experiments.estimates import Planned, TaskSizes


class Given(Protocol):
    """A configuration as it was given."""

    @property
    def producer(self) -> Target: ...
    @property
    def judge(self) -> Target: ...
    @property
    def clerk(self) -> Target | None: ...
    @property
    def sources(self) -> Sequence[SourceText]: ...


def planned_of(name: str, definition: Rubric, given: Given) -> Planned:
    return Planned(
        name=name,
        definition=definition,
        producer=given.producer,
        judge=given.judge,
        clerk=given.clerk,
        sources=tuple(len(source.text) for source in given.sources),
    )


def sizes_of(task: SuiteTask) -> TaskSizes:
    return TaskSizes(
        task=len(task.task),
        seed=len(task.seed),
        sources=tuple(len(source["text"]) for source in task.sources),
    )
