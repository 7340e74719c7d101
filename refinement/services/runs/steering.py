"""What people tell a run for its next revision."""

from collections.abc import Sequence

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from refinement.execution.events import actor_name, event_record
from refinement.execution.windows import STEERING_CHARS
from refinement.judging.same_text import plain_lines
from refinement.models import EventKind, Instruction, Run, User
from refinement.providers.context import text_size
from refinement.selectors.projects.lists import NotFound
from refinement.selectors.runs.steering import being_used, instructions_waiting
from refinement.selectors.runs.words import round_name_in
from refinement.services.audit import audit_record
from refinement.services.runs.lifecycle import WrongState, locked
from refinement.services.runs.steering_room import steering_room
from refinement.texts import storable

INSTRUCTION_CHARS = 4_000
AROUND_CHARS = 150  # about what is said around each of them
LEAST_WORTH_SAYING = 40  # characters
MOST_WAITING_CHARS = STEERING_CHARS  # of all that wait


@transaction.atomic
def instruction_give(*, run: Run, text: str, user: User) -> Instruction:
    """An instruction for the next revision that begins; raises ValidationError."""
    words = plain_lines(storable(text)).strip()
    if not words:
        raise ValidationError({"text": "Say what the next revision should do."})
    if len(words) > INSTRUCTION_CHARS:
        raise ValidationError(
            {"text": f"This is {len(words):,} characters long; {INSTRUCTION_CHARS:,} are allowed."}
        )
    run = locked(run)
    waiting = [entry.text for entry in instructions_waiting(run.pk)]
    _refuse_too_much(sum(map(len, waiting)), words)
    _refuse_what_has_no_room(run, waiting, words)
    given = Instruction.objects.create(run=run, author=user, author_name=actor_name(user), text=words)
    _record("run.instruct", given, run, user)
    return given


@transaction.atomic
def instruction_withdraw(*, run: Run, number: int, user: User) -> Instruction:
    """It is no longer told; raises NotFound, and WrongState where a revision has it already."""
    run = locked(run)  # a revision that begins asks behind the same row
    given = Instruction.objects.filter(run=run, pk=number).first()
    if given is None:
        raise NotFound("There is no such instruction for this run.")
    if given.used_in_round is not None:
        name = round_name_in(run, given.used_in_round)
        raise WrongState(f"{name.capitalize()} was written with it; it cannot be withdrawn any more.")
    if given.withdrawn_at is not None:
        raise WrongState("It is withdrawn already.")
    if given.pk in being_used(run):
        raise WrongState("A revision is being written with it now. Pause the run, then withdraw it.")
    given.withdrawn_at = timezone.now()
    given.save(update_fields=["withdrawn_at"])
    _record("run.withdraw", given, run, user)
    return given


def _refuse_too_much(waiting: int, words: str) -> None:
    if waiting + len(words) > MOST_WAITING_CHARS:
        raise ValidationError(
            {
                "text": f"Instructions of {waiting:,} characters wait already, and {MOST_WAITING_CHARS:,} "
                "may wait at once. Withdraw one, or shorten this."
            }
        )


def _refuse_what_has_no_room(run: Run, waiting: Sequence[str], words: str) -> None:
    """Said now, while it can be said shorter, and not when the revision is about to be written."""
    room = steering_room(run)
    needed = text_size(words) + sum(map(text_size, waiting)) + AROUND_CHARS * (len(waiting) + 1)
    if room is None or needed <= room:
        return
    holds = (
        f"{run.producer_model} holds {run.producer_context:,} tokens. Beside the text that it is to revise"
    )
    left = room - needed + text_size(words)
    if left < LEAST_WORTH_SAYING:
        instead = "Withdraw one that waits." if waiting else "Launch it again with a model that holds more."
        raise ValidationError({"text": f"{holds} there is no room for this. {instead}"})
    raise ValidationError(
        {"text": f"{holds} there is room for about {left:,} more characters. Shorten this."}
    )


def _record(action: str, given: Instruction, run: Run, user: User) -> None:
    said = {"instruction": given.pk, "author": given.author_name, "chars": len(given.text)}
    audit_record(
        action=action, object_type="run", object_id=run.pk, project=run.project, user=user, after=said
    )
    event_record(run.pk, EventKind.STEERED, actor=actor_name(user), user=user, data={"instruction": given.pk})
