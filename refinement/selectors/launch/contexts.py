"""Whether a planned run's texts fit the context of its models, as far as it is known.

The sizes are estimated as in `execution/windows.py`, without the rubric's texts and the instructions around
them. So what is refused here would certainly fail there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from refinement.engine.types import Information, Rubric
from refinement.judging.sources import fair_shares
from refinement.providers.context import CHARS_PER_TOKEN, SMALLEST_WINDOW, TEMPLATE_TOKENS
from refinement.providers.registry import Target
from refinement.selectors.launch.available_models import Offer
from refinement.selectors.launch.model_lists import info_of

LEAST_REPLY_TOKENS = 64


@dataclass(frozen=True, slots=True)
class TextSizes:
    """The lengths of a run's texts, in characters."""

    task: int
    seed: int
    sources: Sequence[int] = ()

    @property
    def may_be_long(self) -> bool:
        """Whether they might not fit the smallest context that models have."""
        return (self.task + self.seed + sum(self.sources)) // CHARS_PER_TOKEN > SMALLEST_WINDOW // 2


def writer_problem(
    sizes: TextSizes, rubric: Rubric, writer: Target | None, offers: Sequence[Offer]
) -> tuple[str, str] | None:
    """The text that is too long for the writer, and a sentence about it; None if all texts fit."""
    if sizes.seed and rubric.policy.max_rounds == 1:
        return None  # the starting text is only judged
    sources = sources_seen(sizes, rubric, rubric.context.producer)
    parts = {"seed": sizes.seed, "task": sizes.task, "sources": sources}
    context = context_of(writer, offers)
    if context is None or fits(sum(parts.values()), context):
        return None
    longest = max(parts, key=lambda name: parts[name])
    what = {"seed": "The starting text needs", "task": "The task needs", "sources": "The sources need"}
    tokens = parts[longest] // CHARS_PER_TOKEN
    it = "them" if longest == "sources" else "it"
    return longest, (
        f"{what[longest]} about {tokens:,} tokens; {writer.model if writer else ''} reads {context:,}. "
        f"Shorten {it} or choose another writer."
    )


def judge_problem(sizes: TextSizes, rubric: Rubric, judges: Sequence[Target], offers: Sequence[Offer]) -> str:
    """That what a judge reads is too long for its model; empty if it fits."""
    seen = min(sizes.seed, rubric.policy.judge_limit_chars)
    needed = sizes.task + seen + sources_seen(sizes, rubric, rubric.context.judge)
    for judge in dict.fromkeys(judges) if rubric.criteria else ():
        context = context_of(judge, offers)
        if context is not None and not fits(needed, context):
            return (
                f"A judge's prompt needs about {needed // CHARS_PER_TOKEN:,} tokens; {judge.model} reads "
                f"{context:,}. Lower the limit on what the judge sees, or choose another judge."
            )
    return ""


def fits(chars: int, context: int) -> bool:
    return chars // CHARS_PER_TOKEN + TEMPLATE_TOKENS + LEAST_REPLY_TOKENS <= context


def sources_seen(sizes: TextSizes, rubric: Rubric, seen: frozenset[Information]) -> int:
    if Information.SOURCES not in seen:
        return 0
    return sum(fair_shares(sizes.sources, rubric.policy.source_limit_chars))


def context_of(target: Target | None, offers: Sequence[Offer]) -> int | None:
    info = info_of(offers, target) if target else None
    return info.context_length if info else None
