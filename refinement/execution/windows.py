"""Context windows: chosen once per model and run, so that servers never reload a model or cut a prompt."""

import time
from dataclasses import dataclass

from django.utils import timezone

from refinement.engine.boards import may_have_board, names_changes
from refinement.engine.panels import MOST_JUDGES
from refinement.engine.types import History, Information, Role, Rubric
from refinement.execution.calls import Caller, CallFailed, Speaker, set_times
from refinement.judging.boards.context import CANDIDATE_CHARS, DIFFERENCE_CHARS
from refinement.judging.boards.context import FEEDBACK_CHARS as CLERK_FEEDBACK_CHARS
from refinement.judging.boards.replies import COMPOSE_TOKENS
from refinement.judging.context import EVALUATOR_CHARS, Brief, permitted
from refinement.judging.prompts import Prompt
from refinement.judging.schema import IMPROVEMENT_CHARS, REASONING_CHARS, reply_limit_tokens
from refinement.judging.sources import shown_sources
from refinement.providers.base import ErrorKind, ModelInfo, ProviderError
from refinement.providers.context import (
    CHARS_PER_TOKEN,
    TEMPLATE_TOKENS,
    context_tokens_for,
    text_size,
)
from refinement.texts import storable

REPLY_CHARS_PER_TOKEN = 4  # an average
SOURCE_CHARS = 250  # of the delimiters and the notice around a source
INSTRUCTION_CHARS = 5_000  # of the prompt's fixed text
ASK_AGAIN_CHARS = 12_000  # two unreadable replies, quoted with their complaints
FEEDBACK_CHARS = 4_000
STEERING_CHARS = 8_000  # of all pending instructions for one revision: they share its prompt
LEAST_REPLY_TOKENS = 64
VERDICT_CHARS = 3_000  # of a judge's issues and suggestion
SUMMARY_CHARS = 2_500  # of a board's summary
SPOKEN = {Role.PRODUCER: "writer", Role.JUDGE: "judge", Role.CLERK: "clerk"}


@dataclass(frozen=True, slots=True)
class InstructionSize:
    """The length of a revision's instructions and of the text that it revises, in characters."""

    chars: int
    text_chars: int


def window_for(caller: Caller, brief: Brief, speaker: Speaker, round_number: int, purpose: str) -> int | None:
    """The context window in tokens for the speaker's model, chosen before its first call in the run.

    One model has one window, sized for everyone who uses it. None if the endpoint does not
    describe its models. The choice is set on the run and saved with the call. Raises CallFailed if the
    endpoint cannot be reached, and ProviderError if it lacks the model.
    """
    run, target = caller.run, caller.target(speaker)
    roles = [role for role in (Role.PRODUCER, Role.JUDGE) if caller.target(Speaker(role)) == target]
    name = "/".join(target)
    chosen = getattr(run, f"{roles[0]}_context") if roles else run.other_contexts.get(name)
    if chosen is not None:
        return int(chosen)
    info = model_info_get(caller, speaker, round_number, purpose)
    if info is None:
        return None
    limit = info.context_length
    speakers = caller.speakers() if may_have_board(brief.rubric) else [Speaker(role) for role in Role]
    users = {each.role for each in speakers if caller.target(each) == target}
    if not may_have_board(brief.rubric) and not names_changes(brief.rubric, History(), 2):
        users.discard(Role.CLERK)  # it is never asked
    wanted = max(context_tokens_for(*expected_sizes(brief, each), None) for each in users)
    window = wanted if limit is None else min(wanted, limit)
    # Saved with the call's results. If the call fails, the next try chooses the same window.
    for role in roles:
        setattr(run, f"{role}_context", window)
        setattr(run, f"{role}_family", info.family)
    if not roles:
        run.other_contexts = {**run.other_contexts, name: window}
    return window


def model_info_get(caller: Caller, speaker: Speaker, round_number: int, purpose: str) -> ModelInfo | None:
    """The speaker's model as the endpoint describes it; None if it does not describe its models."""
    _, model = caller.target(speaker)
    started, clock = timezone.now(), time.monotonic()
    try:
        return caller.provider(speaker).model_info(model)
    except ProviderError as error:
        if error.kind is ErrorKind.MODEL_MISSING:
            raise
        if not error.retryable:
            return None
        # Without a window, the server would use its default and may cut the prompt silently.
        call = caller.call_row(speaker, round_number, purpose)
        call.error_kind, call.error_message = error.kind.value, storable(error.message)
        set_times(call, started, time.monotonic() - clock)
        raise CallFailed(call, error) from error


def expected_sizes(brief: Brief, role: Role) -> tuple[int, int]:
    """The longest prompt to expect for a role, in characters, and the longest reply, in tokens."""
    rubric, policy = brief.rubric, brief.rubric.policy
    texts = (brief.task, rubric.background, rubric.output_contract, rubric.search_space)
    fixed = INSTRUCTION_CHARS + sum(text_size(text) for text in texts)
    fixed += sum(
        text_size(part)
        for criterion in rubric.criteria
        for part in (criterion.name, criterion.description, criterion.ideal)
    )
    candidate = max(text_size(brief.seed), policy.producer_tokens * REPLY_CHARS_PER_TOKEN)
    if role is Role.CLERK:
        # It merges verdicts, names a change from its lines, or composes a panel for a candidate.
        verdicts = MOST_JUDGES * verdict_chars(rubric) + SUMMARY_CHARS
        asked = max(verdicts, DIFFERENCE_CHARS + CLERK_FEEDBACK_CHARS, CANDIDATE_CHARS)
        return fixed + asked + ASK_AGAIN_CHARS, COMPOSE_TOKENS
    fixed += sources_size(brief, role)
    if role is Role.JUDGE:
        seen = 2 * min(candidate, policy.judge_limit_chars)  # the candidate and the first version
        seen += min(text_size(brief.calibration.text), policy.judge_limit_chars) if brief.calibration else 0
        seen += 2 * EVALUATOR_CHARS if rubric.runs_a_command else 0
        if may_have_board(rubric):
            seen += MOST_JUDGES * verdict_chars(rubric) + SUMMARY_CHARS  # of the deliberation
        return fixed + seen + ASK_AGAIN_CHARS, reply_limit_tokens(rubric)
    # Includes instructions that may come later: the window is chosen once, before there are any. A repair has
    # the validation command's output instead, which is no longer.
    return fixed + candidate + FEEDBACK_CHARS + STEERING_CHARS, policy.producer_tokens


def verdict_chars(rubric: Rubric) -> int:
    """The longest verdict to expect of one judge."""
    return VERDICT_CHARS + len(rubric.criteria) * (REASONING_CHARS + IMPROVEMENT_CHARS)


def sources_size(brief: Brief, role: Role) -> int:
    """The size of the sources in each of a role's prompts; 0 if the role may not see them."""
    if Information.SOURCES not in permitted(brief.rubric, role):
        return 0
    shown = shown_sources(brief.sources, brief.rubric.policy.source_limit_chars)
    return sum(text_size(source.name) + text_size(source.excerpt.text) + SOURCE_CHARS for source in shown)


def least_reply_tokens(wanted: int, chars: int) -> int:
    """The tokens that a revision of a text of `chars` characters needs at least; `wanted` at most."""
    return min(wanted, max(LEAST_REPLY_TOKENS, chars // REPLY_CHARS_PER_TOKEN))


def max_reply_tokens(
    prompt: Prompt,
    wanted: int,
    window: int | None,
    instructions: InstructionSize | None = None,
    *,
    role: Role,
    sources: int = 0,
) -> int:
    """The reply's token limit: `wanted`, or less if the prompt leaves less of the window.

    Raises ProviderError (context_exceeded) if too little is left for a useful reply. `instructions` are
    those of a revision: they need enough tokens left to write the whole text again. `role` and `sources`, the
    size of the prompt's sources, are for the message.
    """
    if window is None:
        return wanted
    used = sum(text_size(message.content) for message in prompt.messages) // CHARS_PER_TOKEN + TEMPLATE_TOKENS
    left = window - used
    if instructions is not None and left < least_reply_tokens(wanted, instructions.text_chars):
        raise ProviderError(
            ErrorKind.CONTEXT_EXCEEDED,
            f"The pending instructions have {instructions.chars:,} characters. With them the prompt takes "
            f"about {used:,} of the model's {window:,} context tokens, which leaves too little for the "
            "revision. Withdraw or shorten some of them, then retry the run.",
            retryable=False,
        )
    if left < min(wanted, LEAST_REPLY_TOKENS):
        raise ProviderError(
            ErrorKind.CONTEXT_EXCEEDED,
            f"The {SPOKEN[role]}'s prompt takes about {used:,} of its model's {window:,} context tokens, "
            f"which leaves too little for a reply. {shorter_prompt(role, sources)}, or choose a "
            f"{SPOKEN[role]} with a longer context.",
            retryable=False,
        )
    return min(wanted, left)


def shorter_prompt(role: Role, sources: int) -> str:
    """What shortens a role's prompt that is too long."""
    if sources:
        tokens = sources // CHARS_PER_TOKEN
        return (
            f"The run's sources take about {tokens:,} of them. Rerun it with fewer or shorter sources, or "
            "with a lower limit on the sources in a prompt"
        )
    if role is Role.JUDGE:
        return "Shorten the text, lower the rubric's limit on what the judge sees"
    return "Rerun it with a shorter text"
