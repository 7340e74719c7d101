"""How much space the producer's context window has for instructions."""

from refinement.engine.codec import rubric_from_json
from refinement.engine.types import Role
from refinement.execution.windows import least_reply_tokens
from refinement.models import Run
from refinement.providers.context import CHARS_PER_TOKEN, TEMPLATE_TOKENS, text_size


def steering_capacity(run: Run) -> int | None:
    """Bytes available for instructions, estimated from the last producer call. None if unknown.

    A revision needs the prompt without instructions and a reply as long as the text. Instructions can use
    what is left of the window.
    """
    window = run.producer_context
    last = run.calls.filter(role=Role.PRODUCER, error_kind="").order_by("-id").first()
    text = run.rounds.order_by("-number").values_list("candidate", flat=True).first()
    if window is None or last is None or text is None:
        return None
    prompt = sum(text_size(message["content"]) for message in last.messages)
    included = run.instructions.filter(used_in_round=last.round_number).values_list("text", flat=True)
    prompt -= sum(text_size(each) for each in included)
    if last.round_number == 1:  # a first draft: its prompt had no text to revise
        prompt += text_size(text)
    reply = least_reply_tokens(rubric_from_json(run.snapshot).policy.producer_tokens, len(text))
    return max(0, (window - TEMPLATE_TOKENS - reply) * CHARS_PER_TOKEN - prompt)
