"""How much of what people say fits into a producer's window beside the text that is to be revised."""

from refinement.engine.codec import rubric_from_json
from refinement.engine.types import Role
from refinement.execution.windows import least_reply_tokens
from refinement.models import Run
from refinement.providers.context import CHARS_PER_TOKEN, TEMPLATE_TOKENS, text_size


def steering_room(run: Run) -> int | None:
    """Room for instructions in bytes, by what was last said to the producer; None where that is not known.

    Counted is what a revision needs: the prompt as it was without instructions, and a reply that is as
    long as the text. What is left can be used; a window is never filled at the cost of the revision.
    """
    window = run.producer_context
    last = run.calls.filter(role=Role.PRODUCER, error_kind="").order_by("-id").first()
    text = run.rounds.order_by("-number").values_list("candidate", flat=True).first()
    if window is None or last is None or text is None:
        return None
    prompt = sum(text_size(message["content"]) for message in last.messages)
    told = run.instructions.filter(used_in_round=last.round_number).values_list("text", flat=True)
    prompt -= sum(text_size(each) for each in told)
    if last.round_number == 1:  # a first draft, written without a text before it
        prompt += text_size(text)
    reply = least_reply_tokens(rubric_from_json(run.snapshot).policy.producer_tokens, len(text))
    return max(0, (window - TEMPLATE_TOKENS - reply) * CHARS_PER_TOKEN - prompt)
