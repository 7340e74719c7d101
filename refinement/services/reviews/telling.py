"""Turns a comment into an instruction for the next round."""

from django.core.exceptions import ValidationError

from refinement.models import Comment, Instruction, Thread, User
from refinement.selectors.runs.steering import instructions_waiting
from refinement.services.runs.steering import instruction_give

MOST_QUOTED = 300  # characters of the passage


def thread_tell(*, thread: Thread, user: User) -> Instruction:
    """Give the thread's first comment to the writer, with its passage. Raises ValidationError."""
    first = Comment.objects.filter(thread=thread, deleted_at=None).order_by("id").first()
    if first is None:
        raise ValidationError("All comments of this thread were deleted.")
    text = instruction_text(thread, first)
    if any(waiting.text == text for waiting in instructions_waiting(thread.run_id)):
        raise ValidationError("The next round already has this instruction.")
    return instruction_give(run=thread.run, text=text, user=user)


def instruction_text(thread: Thread, comment: Comment) -> str:
    if not thread.quote:
        return comment.body
    quote = " ".join(thread.quote.split())
    quote = quote if len(quote) <= MOST_QUOTED else f"{quote[:MOST_QUOTED].rstrip()}…"
    return f"About “{quote}”: {comment.body}"
