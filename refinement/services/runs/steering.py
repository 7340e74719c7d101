"""Instructions that people give a run for its next revision."""

from collections.abc import Sequence

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from refinement.engine.sentences import round_name
from refinement.execution.events import actor_name, event_record
from refinement.execution.windows import STEERING_CHARS
from refinement.judging.same_text import plain_lines
from refinement.models import EventKind, Instruction, Run, User
from refinement.providers.context import text_size
from refinement.selectors.projects.lists import NotFound
from refinement.selectors.runs.steering import being_used, instructions_waiting
from refinement.services.audit import audit_record
from refinement.services.runs.lifecycle import WrongState, locked
from refinement.services.runs.steering_room import steering_capacity
from refinement.texts import storable

INSTRUCTION_CHARS = 4_000
AROUND_CHARS = 150  # about what the prompt adds around each of them
SHORTEST_USEFUL = 40  # characters
MOST_WAITING_CHARS = STEERING_CHARS  # of all pending instructions together


@transaction.atomic
def instruction_give(*, run: Run, text: str, user: User) -> Instruction:
    """Add an instruction for the next revision. Raises ValidationError."""
    text = plain_lines(storable(text)).strip()
    if not text:
        raise ValidationError({"text": "Enter an instruction for the next revision."})
    if len(text) > INSTRUCTION_CHARS:
        raise ValidationError(
            {"text": f"This is {len(text):,} characters long; {INSTRUCTION_CHARS:,} are allowed."}
        )
    run = locked(run)
    waiting = [entry.text for entry in instructions_waiting(run.pk)]
    _check_total(sum(map(len, waiting)), text)
    _check_context(run, waiting, text)
    instruction = Instruction.objects.create(run=run, author=user, author_name=actor_name(user), text=text)
    _record("run.instruct", instruction, run, user)
    return instruction


@transaction.atomic
def instruction_withdraw(*, run: Run, number: int, user: User) -> Instruction:
    """Withdraw an instruction. Raises NotFound, and WrongState if a revision has used it."""
    run = locked(run)  # a revision takes the same lock before it reads the instructions
    instruction = Instruction.objects.filter(run=run, pk=number).first()
    if instruction is None:
        raise NotFound("This run has no such instruction.")
    if instruction.used_in_round is not None:
        name = round_name(instruction.used_in_round)
        raise WrongState(f"{name.capitalize()} already used this instruction. It cannot be withdrawn.")
    if instruction.withdrawn_at is not None:
        raise WrongState("This instruction is already withdrawn.")
    if instruction.pk in being_used(run):
        raise WrongState("A revision is using this instruction now. Pause the run, then withdraw it.")
    instruction.withdrawn_at = timezone.now()
    instruction.save(update_fields=["withdrawn_at"])
    _record("run.withdraw", instruction, run, user)
    return instruction


def _check_total(waiting: int, text: str) -> None:
    if waiting + len(text) > MOST_WAITING_CHARS:
        raise ValidationError(
            {
                "text": f"Pending instructions already have {waiting:,} of {MOST_WAITING_CHARS:,} "
                "characters. Withdraw one, or shorten this one."
            }
        )


def _check_context(run: Run, waiting: Sequence[str], text: str) -> None:
    """Refuse an instruction that does not fit the producer's context window, while it can be shortened."""
    capacity = steering_capacity(run)
    needed = text_size(text) + sum(map(text_size, waiting)) + AROUND_CHARS * (len(waiting) + 1)
    if capacity is None or needed <= capacity:
        return
    window = f"{run.producer_model} has a context window of {run.producer_context:,} tokens."
    left = capacity - needed + text_size(text)
    if left < SHORTEST_USEFUL:
        instead = "Withdraw a pending one." if waiting else "Rerun with a model that has a larger one."
        raise ValidationError({"text": f"{window} This instruction does not fit. {instead}"})
    raise ValidationError({"text": f"{window} About {left:,} more characters fit. Shorten this instruction."})


def _record(action: str, instruction: Instruction, run: Run, user: User) -> None:
    after = {
        "instruction": instruction.pk, "author": instruction.author_name, "chars": len(instruction.text),
    }  # fmt: skip
    audit_record(
        action=action, object_type="run", object_id=run.pk, project=run.project, user=user, after=after
    )
    data = {"instruction": instruction.pk}
    event_record(run.pk, EventKind.STEERED, actor=actor_name(user), user=user, data=data)
