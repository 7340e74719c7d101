"""The context window of each model of a run: chosen once, so that a server never reloads or cuts."""

import time
from dataclasses import dataclass

from django.db.models import Max
from django.utils import timezone

from refinement.engine.types import Role
from refinement.execution.calls import Caller, CallFailed, timed
from refinement.judging.context import EVALUATOR_CHARS, Brief
from refinement.judging.prompts import Prompt
from refinement.judging.schema import reply_limit_tokens
from refinement.models import Call
from refinement.providers.base import ErrorKind, ModelInfo, ProviderError
from refinement.providers.context import (
    CHARS_PER_TOKEN,
    TEMPLATE_TOKENS,
    context_tokens_for,
    text_size,
)
from refinement.texts import storable

CHARS_OF_A_TOKEN_WRITTEN = 4  # how long a text of so many tokens turns out, about
INSTRUCTION_CHARS = 5_000  # our own words around the data
ASK_AGAIN_CHARS = 12_000  # two replies quoted back with their complaints
FEEDBACK_CHARS = 4_000
STEERING_CHARS = 8_000  # of all instructions that wait for one revision: they share its prompt
LEAST_REPLY_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Steered:
    """What people told a revision, and what it revises; both in characters."""

    chars: int
    text_chars: int


def window_for(caller: Caller, brief: Brief, role: Role) -> int | None:
    """The run's window for this role's model, chosen at its first call and kept for all others."""
    field = "judge_context" if role is Role.JUDGE else "producer_context"
    chosen: int | None = getattr(caller.run, field)
    if chosen is not None:
        return chosen
    info = looked_up(caller, role)
    if info is None:
        return None
    limit = info.context_length
    roles = [role]
    if caller.target(Role.JUDGE) == caller.target(Role.PRODUCER):
        roles = [Role.JUDGE, Role.PRODUCER]  # one model, one window
    wanted = max(context_tokens_for(*expected(brief, each), None) for each in roles)
    window = wanted if limit is None else min(wanted, limit)
    # Written down with what the call brings: without it, the next try chooses the same.
    setattr(caller.run, field, window)
    setattr(caller.run, f"{role.value}_family", info.family)
    return window


def looked_up(caller: Caller, role: Role) -> ModelInfo | None:
    """What the endpoint tells of the role's model; None where it tells nothing of its models."""
    endpoint, model = caller.target(role)
    started, clock = timezone.now(), time.monotonic()
    try:
        return caller.provider(role).model_info(model)
    except ProviderError as error:
        if error.kind is ErrorKind.MODEL_MISSING:
            raise
        if not error.retryable:
            return None
        # A call without a window would be served with one that cuts the prompt without a word.
        round_number = round_under_way(caller, role)
        call = Call(
            run=caller.run,
            round_number=round_number,
            role=role.value,
            endpoint=endpoint,
            model=model,
            attempt=caller.attempt(role, round_number),
            messages=[],
            error_kind=error.kind.value,
            error_message=storable(error.message),
        )
        timed(call, started, time.monotonic() - clock)
        raise CallFailed(call, error) from error


def round_under_way(caller: Caller, role: Role) -> int:
    """The round that is judged, or the one that is to be written."""
    newest: int | None = caller.run.rounds.aggregate(newest=Max("number"))["newest"]
    return (newest or 0) + (role is not Role.JUDGE)


def expected(brief: Brief, role: Role) -> tuple[int, int]:
    """The longest prompt to be expected of a role, in characters, and the longest reply, in tokens."""
    rubric, policy = brief.rubric, brief.rubric.policy
    texts = (brief.task, rubric.background, rubric.output_contract, rubric.search_space)
    fixed = INSTRUCTION_CHARS + sum(text_size(text) for text in texts)
    fixed += sum(
        text_size(part)
        for criterion in rubric.criteria
        for part in (criterion.name, criterion.description, criterion.ideal)
    )
    candidate = max(text_size(brief.seed), policy.producer_tokens * CHARS_OF_A_TOKEN_WRITTEN)
    if role is Role.JUDGE:
        seen = 2 * min(candidate, policy.judge_limit_chars)
        seen += 2 * EVALUATOR_CHARS if rubric.runs_a_command else 0
        return fixed + seen + ASK_AGAIN_CHARS, reply_limit_tokens(rubric)
    # Room for what people may say later: the window is chosen once, before anybody has said anything.
    return fixed + candidate + FEEDBACK_CHARS + STEERING_CHARS, policy.producer_tokens


def reply_worth_having(wanted: int, chars: int) -> int:
    """The tokens without which a revision of a text of so many characters would be cut short."""
    return min(wanted, max(LEAST_REPLY_TOKENS, chars // CHARS_OF_A_TOKEN_WRITTEN))


def reply_room(prompt: Prompt, wanted: int, window: int | None, steered: Steered | None = None) -> int:
    """The reply's limit: what is wanted, or what the window leaves; refuses when it leaves nothing."""
    if window is None:
        return wanted
    used = sum(text_size(message.content) for message in prompt.messages) // CHARS_PER_TOKEN + TEMPLATE_TOKENS
    room = window - used
    if steered is not None and room < reply_worth_having(wanted, steered.text_chars):
        raise ProviderError(
            ErrorKind.CONTEXT_EXCEEDED,
            f"The instructions that wait have {steered.chars:,} characters. With them the prompt takes about "
            f"{used:,} tokens of the {window:,} that the model can hold, which leaves too little room for "
            "the revision itself. Withdraw some of them, or say them in fewer words, and retry the run.",
            retryable=False,
        )
    if room < min(wanted, LEAST_REPLY_TOKENS):
        raise ProviderError(
            ErrorKind.CONTEXT_EXCEEDED,
            f"The prompt takes about {used:,} tokens of the {window:,} that the model can hold, which leaves "
            "no room for a reply. Shorten the text, lower what the judge is shown of it, or choose a model "
            "with a longer context.",
            retryable=False,
        )
    return min(wanted, room)
