"""A round's candidate, edited by a person and put into the loop as a round of its own."""

from dataclasses import dataclass, replace

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from refinement.engine.codec import rubric_from_json, rubric_to_json
from refinement.execution.events import actor_name
from refinement.execution.waking import wake
from refinement.judging.same_text import plain_lines
from refinement.models import EventKind, Round, RoundOrigin, Run, RunStatus, User
from refinement.selectors.projects.lists import NotFound
from refinement.selectors.runs.words import round_name_in
from refinement.services.runs.creating import MAX_TEXT_CHARS
from refinement.services.runs.lifecycle import (
    LET_GO,
    MOST_MORE_ROUNDS,
    NOT_FINISHED,
    STEP_ANEW,
    Change,
    locked,
    refuse_spent,
)
from refinement.texts import storable

# While a worker holds the run, the next round is being made; between two steps there is room for another.
EDITABLE = (RunStatus.QUEUED, RunStatus.WAITING, RunStatus.PAUSED, RunStatus.FINISHED)


class RoundsMoved(Exception):
    """Another round has come since the person began to edit; the message says which."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What a person made of a round, and which round was the newest when they began."""

    base: int
    text: str
    newest: int
    rounds: int | None = None  # for a finished run: how many more, this one included
    resume: bool = True  # for a paused run: whether it goes on at once


@transaction.atomic
def round_edit(*, run: Run, edit: Edit, user: User) -> Round:
    """The edited text as the run's next round, which is judged like any other.

    Raises ValidationError, WrongState, NotFound, and RoundsMoved where somebody was faster.
    """
    run = locked(run)
    text = plain_lines(storable(edit.text))
    change = Change(run, user, "edit")
    if run.status not in EDITABLE:
        change.refuse()
    refuse_moved(run, edit.newest)
    refuse_unjudged(change)
    refuse_useless(run, edit.base, text)
    change.apply(EDITABLE, **taken_up(change, edit))
    added = Round.objects.create(
        run=run,
        number=edit.newest + 1,
        origin=RoundOrigin.HAND,
        base_round=edit.base,
        author=user,
        author_name=actor_name(user),
        candidate=text,
        candidate_chars=len(text),
    )
    change.event(EventKind.EDITED, round=added.number, base=edit.base)
    if run.status != RunStatus.PAUSED:
        wake(Run, run.pk)
    return added


def taken_up(change: Change, edit: Edit) -> dict[str, object]:
    """The run's row as it goes on: queued, with room for the edited round where it had ended."""
    run = change.run
    if run.status == RunStatus.PAUSED and not edit.resume:
        return {"status": RunStatus.PAUSED}
    going: dict[str, object] = {
        "status": RunStatus.QUEUED,
        "woken_at": timezone.now(),
        **STEP_ANEW,
        **LET_GO,
    }
    return going | reopened(change, edit.rounds) if run.is_finished else going


def reopened(change: Change, rounds: int | None) -> dict[str, object]:
    """A finished run's way back into the loop, for so many more rounds."""
    if rounds is None or not 1 <= rounds <= MOST_MORE_ROUNDS:
        raise ValidationError({"rounds": f"Ask for 1 to {MOST_MORE_ROUNDS} more rounds, this one included."})
    run, definition = change.run, rubric_from_json(change.run.snapshot)
    refuse_spent(change, definition)
    longer = replace(definition.policy, max_rounds=run.rounds_judged + rounds)
    return {
        "snapshot": rubric_to_json(replace(definition, policy=longer)),
        "extended_after": run.rounds_judged,
        "failure_role": "",
        "failure_message": "",
        **NOT_FINISHED,
    }


def newest_round(run: Run) -> int:
    """The number of the run's newest round; 0 where there is none."""
    newest: int | None = run.rounds.aggregate(newest=Max("number"))["newest"]
    return newest or 0


def refuse_moved(run: Run, newest: int) -> None:
    now = newest_round(run)
    if now == newest:
        return
    last = run.rounds.filter(number=now).only("number", "origin", "author_name").first()
    if last is None or now < newest:
        raise RoundsMoved("A round was dropped while you were editing.")
    how = f"{last.author_name} saved" if last.origin == RoundOrigin.HAND else "The run has written"
    raise RoundsMoved(f"{how} {round_name_in(run, now)} while you were editing.")


def refuse_unjudged(change: Change) -> None:
    """One text at a time waits for the judge: an edit on top of it would leave that one without a score."""
    if change.run.rounds.filter(judged_at__isnull=True).exists():
        change.refuse(f"has a round that is not judged yet. {unjudged_words(change.run)}")


def unjudged_words(run: Run) -> str:
    """What to do about a text that waits for its judge before another can be put in."""
    if run.failure_role:
        return "Retry the run, and edit when the judge has read it."
    if run.is_finished:
        return "Ask for more rounds, which drop it, and edit then."
    go_on = "Resume the run" if run.status == RunStatus.PAUSED else "Let the run go on"
    instead = "or tell the next revision what to change, under Steer"
    return f"{go_on}, and edit when the judge has read it; {instead}."


def refuse_useless(run: Run, base: int, text: str) -> None:
    """An empty text, one that is too long, and one that is the same are no rounds."""
    before = run.rounds.filter(number=base).values_list("candidate", flat=True).first()
    if before is None:
        raise NotFound("There is no such round in this run.")
    if not text.strip():
        raise ValidationError({"text": "The text is empty; an empty text cannot be judged."})
    if len(text) > MAX_TEXT_CHARS:
        raise ValidationError({"text": f"The text is longer than {MAX_TEXT_CHARS:,} characters."})
    if text.strip() == plain_lines(before).strip():
        same = f"This is {round_name_in(run, base)} as it is; change it before you save."
        raise ValidationError({"text": same})
