"""Rounds edited by hand: a person's edit of a candidate becomes the run's next round."""

from dataclasses import dataclass, replace

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from refinement.engine.codec import rubric_from_json, rubric_to_json
from refinement.engine.sentences import round_name
from refinement.engine.types import Outcome
from refinement.execution.events import actor_name
from refinement.execution.waking import wake
from refinement.judging.same_text import plain_lines
from refinement.models import EventKind, Round, RoundOrigin, Run, RunStatus, User
from refinement.selectors.projects.lists import NotFound
from refinement.services.runs.creating import MAX_TEXT_CHARS
from refinement.services.runs.lifecycle import (
    MOST_MORE_ROUNDS,
    NOT_FINISHED,
    RELEASED,
    STEP_RESET,
    Change,
    idle_seconds,
    locked,
    require_budget,
)
from refinement.texts import storable

# Not RUNNING: a worker is then writing the next round.
EDITABLE = (RunStatus.QUEUED, RunStatus.WAITING, RunStatus.PAUSED, RunStatus.FINISHED)


class RoundConflict(Exception):
    """The run's rounds have changed since the edit began. The message says how."""


@dataclass(frozen=True, slots=True)
class Edit:
    """An edited text, its base round, and the newest round when the edit began."""

    base: int
    text: str
    newest: int
    rounds: int | None = None  # finished runs only: how many more rounds, including this one
    resume: bool = True  # paused runs only


@transaction.atomic
def round_edit(*, run: Run, edit: Edit, user: User) -> Round:
    """Add the edited text as the run's next round, to be judged like any other.

    Raises ValidationError, WrongState, NotFound and RoundConflict.
    """
    run = locked(run)
    text = plain_lines(storable(edit.text))
    change = Change(run, user, "edit")
    if run.status not in EDITABLE:
        change.refuse()
    require_newest(run, edit.newest)
    require_judged(change)
    validate_edit(run, edit.base, text)
    change.apply(EDITABLE, **state_after_edit(change, edit))
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


def state_after_edit(change: Change, edit: Edit) -> dict[str, object]:
    """The run's fields after the edit: queued, and extended if it had finished."""
    run = change.run
    # An edit answers a run that asks whether to continue: it continues, and may ask again after this round.
    if run.status == RunStatus.PAUSED and not edit.resume:
        return {"status": RunStatus.PAUSED, "plateau_asked": False}
    queued: dict[str, object] = {
        "status": RunStatus.QUEUED,
        "plateau_asked": False,
        "woken_at": timezone.now(),
        "idle_seconds": idle_seconds(run),
        **STEP_RESET,
        **RELEASED,
    }
    return queued | reopened(change, edit.rounds) if run.is_finished else queued


def reopened(change: Change, rounds: int | None) -> dict[str, object]:
    """The fields that reopen a finished run for `rounds` more rounds."""
    if rounds is None or not 1 <= rounds <= MOST_MORE_ROUNDS:
        raise ValidationError({"rounds": f"Enter 1 to {MOST_MORE_ROUNDS} more rounds, including this one."})
    run, definition = change.run, rubric_from_json(change.run.snapshot)
    require_budget(change, definition)
    longer = replace(definition.policy, max_rounds=run.rounds_judged + rounds)
    return {
        "snapshot": rubric_to_json(replace(definition, policy=longer)),
        "extended_after": run.rounds_judged,
        "plateau_accepted": False,
        "failure_role": "",
        "failure_message": "",
        **NOT_FINISHED,
    }


def newest_round(run: Run) -> int:
    """The number of the run's newest round, or 0."""
    newest: int | None = run.rounds.aggregate(newest=Max("number"))["newest"]
    return newest or 0


def require_newest(run: Run, newest: int) -> None:
    now = newest_round(run)
    if now == newest:
        return
    last = run.rounds.filter(number=now).only("number", "origin", "author_name").first()
    if last is None or now < newest:
        raise RoundConflict("A round was removed while you were editing.")
    how = f"{last.author_name} saved" if last.origin == RoundOrigin.HAND else "The run added"
    raise RoundConflict(f"{how} {round_name(now)} while you were editing.")


def require_judged(change: Change) -> None:
    """Refuse an edit while a round waits for the judge; that round would never be scored."""
    if change.run.rounds.filter(judged_at__isnull=True).exists():
        change.refuse(f"has a round that is not judged yet. {unjudged_hint(change.run)}")


def unjudged_hint(run: Run) -> str:
    """What to do about an unjudged round before editing."""
    if run.outcome == Outcome.ERROR:
        return "Retry the run, and edit after the judge has scored it."
    if run.is_finished:
        return "Add more rounds, which discards it, and edit then."
    first = "Resume the run" if run.status == RunStatus.PAUSED else "Let the run continue"
    instead = "or add an instruction for the next revision under Instructions"
    return f"{first}, and edit after the judge has scored it, {instead}."


def validate_edit(run: Run, base: int, text: str) -> None:
    """The text must not be empty, too long or unchanged. Raises ValidationError, NotFound."""
    before = run.rounds.filter(number=base).values_list("candidate", flat=True).first()
    if before is None:
        raise NotFound("This run has no such round.")
    if not text.strip():
        raise ValidationError({"text": "The text is empty."})
    if len(text) > MAX_TEXT_CHARS:
        raise ValidationError({"text": f"The text is longer than {MAX_TEXT_CHARS:,} characters."})
    if text.strip() == plain_lines(before).strip():
        unchanged = f"The text is the same as {round_name(base)}. Change it before saving."
        raise ValidationError({"text": unchanged})
