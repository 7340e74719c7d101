"""Builds the prompts of a board's deliberation and of the clerk from their views."""

from collections.abc import Iterable

from refinement.engine.types import Rubric
from refinement.judging.boards.context import (
    ComposeView,
    DeliberationView,
    DescribeView,
    MergeView,
    Opinion,
)
from refinement.judging.boards.replies import (
    DESCRIBE_EXAMPLE,
    MERGE_EXAMPLE,
    compose_example,
    stances_example,
    verdict_text,
)
from refinement.judging.prompts import (
    Prompt,
    PromptMessage,
    artifact_name,
    block,
    criterion_values,
    safe,
    summary_text,
)
from refinement.judging.schema import plain
from refinement.judging.templating import render


def deliberation_prompt(first: Prompt, view: DeliberationView, rubric: Rubric) -> Prompt:
    """Continues the conversation with a judge: its own scores, then the others' scores and reasoning.

    The messages of the first call come first and unchanged, so that servers can reuse their cache.
    """
    shape = stances_example(rubric)
    request = render(
        "deliberation",
        None,
        count=len(view.others),
        opinions="\n\n".join(
            block(view.nonce, f"JUDGE {number}", _opinion(opinion))
            for number, opinion in enumerate(view.others, start=1)
        ),
        reply_example=shape,
    )
    own = safe(verdict_text(view.own, view.keys), view.nonce)
    added = (PromptMessage("assistant", own), PromptMessage("user", request))
    return Prompt((*first.messages, *added), shape, view.nonce)


def merge_prompt(view: MergeView) -> Prompt:
    """The clerk gets every verdict and suggestion, and the board's last summary."""
    system = render(
        "clerk_merge",
        None,
        artifact=artifact_name(view.artifact_type, view.nonce),
        criteria=criterion_values(view.criteria, view.nonce),
    )
    blocks = [] if view.previous is None else [block(view.nonce, "LAST SUMMARY", summary_text(view.previous))]
    blocks += [
        block(view.nonce, f"JUDGE {number}", _opinion(opinion))
        for number, opinion in enumerate(view.opinions, start=1)
    ]
    return clerk_prompt(view.nonce, system, MERGE_EXAMPLE, blocks)


def compose_prompt(view: ComposeView) -> Prompt:
    """The clerk gets the task, the criteria and the candidate."""
    artifact = artifact_name(view.artifact_type, view.nonce)
    system = render("clerk_compose", None, artifact=artifact, judges=view.judges)
    criteria = "\n".join(
        f"- {entry.key} ({entry.name}): {entry.description}".rstrip(": ") for entry in view.criteria
    )
    blocks = [
        block(view.nonce, "TASK", view.task),
        block(view.nonce, "CRITERIA", criteria),
        block(view.nonce, "CANDIDATE", view.candidate.text),
    ]
    return clerk_prompt(view.nonce, system, compose_example(view.judges), blocks)


def describe_prompt(view: DescribeView) -> Prompt:
    """The clerk gets the changed lines and the feedback that led to them."""
    blocks = [
        block(view.nonce, "FEEDBACK", view.feedback),
        block(view.nonce, "CHANGED LINES", view.difference),
    ]
    return clerk_prompt(view.nonce, render("clerk_describe", None), DESCRIBE_EXAMPLE, blocks)


def clerk_prompt(nonce: str, system: str, shape: str, blocks: Iterable[str]) -> Prompt:
    rules = render("clerk_rules", None, nonce=nonce, reply_example=shape)
    messages = (PromptMessage("system", f"{system}\n\n{rules}"), PromptMessage("user", "\n\n".join(blocks)))
    return Prompt(messages, shape, nonce)


def _opinion(opinion: Opinion) -> str:
    lines = [opinion.name]
    for entry in opinion.scores:
        changed = f" (first {plain(entry.before)})" if entry.before is not None else ""
        lines.append(f"- {entry.key}: {plain(entry.score)}{changed}. {entry.reasoning}".rstrip())
    lines += [f"Issue: {issue}" for issue in opinion.issues]
    if opinion.asi:
        lines.append(f"Suggested change: {opinion.asi}")
    return "\n".join(lines)
