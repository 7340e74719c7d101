"""Finds the source of each part of a board's and the clerk's prompts."""

from dataclasses import dataclass, replace

from refinement.engine.types import Rubric
from refinement.judging.boards.context import ComposeView, DeliberationView, DescribeView, MergeView
from refinement.judging.boards.prompts import (
    compose_prompt,
    deliberation_prompt,
    describe_prompt,
    merge_prompt,
)
from refinement.judging.context import JudgeView
from refinement.judging.prompts import Prompt, judge_prompt
from refinement.judging.provenance import (
    Around,
    Source,
    TracedPrompt,
    marked_criteria,
    marked_judge,
    traced,
)


@dataclass(frozen=True, slots=True)
class Deliberating:
    """What a judge saw when it scored, and what it sees of the others."""

    first: JudgeView
    view: DeliberationView
    rubric: Rubric

    @property
    def nonce(self) -> str:
        return self.view.nonce


def trace_deliberation(first: JudgeView, view: DeliberationView, rubric: Rubric) -> TracedPrompt:
    """The whole conversation of a judge in deliberation, in parts."""
    return traced(Deliberating(first, view, rubric), _deliberation, _marked_deliberation)


def trace_merge(view: MergeView) -> TracedPrompt:
    return traced(view, merge_prompt, _marked_merge)


def trace_compose(view: ComposeView) -> TracedPrompt:
    return traced(view, compose_prompt, _marked_compose)


def trace_describe(view: DescribeView) -> TracedPrompt:
    return traced(view, describe_prompt, _unmarked)


def _deliberation(whole: Deliberating) -> Prompt:
    return deliberation_prompt(judge_prompt(whole.first), whole.view, whole.rubric)


def _marked_deliberation(whole: Deliberating, around: Around) -> Deliberating:
    return replace(whole, first=marked_judge(whole.first, around))


def _marked_merge(view: MergeView, around: Around) -> MergeView:
    return replace(
        view,
        criteria=marked_criteria(view.criteria, around),
        artifact_type=around(Source.ARTIFACT, view.artifact_type),
    )


def _marked_compose(view: ComposeView, around: Around) -> ComposeView:
    return replace(view, artifact_type=around(Source.ARTIFACT, view.artifact_type))


def _unmarked(view: DescribeView, around: Around) -> DescribeView:
    """Empty: all data is between fences."""
    return view
