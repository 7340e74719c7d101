"""Actions on a run: control, instructions and decisions."""

from collections.abc import Callable
from datetime import datetime
from typing import Literal

from ninja import Field, Query, Router, Schema

from refinement.access.objects import run_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.idempotency import creates, made_at
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.api.runs.runs import run_address
from refinement.api.runs.shapes import RunWhole, run_whole
from refinement.models import Decision, Instruction, Run
from refinement.services.reviews.decisions import REASON_CHARS, decision_make
from refinement.services.runs.archiving import run_archive
from refinement.services.runs.creating import MOST_TAGS, tags_set
from refinement.services.runs.lifecycle import (
    MOST_MORE_ROUNDS,
    run_cancel,
    run_continue,
    run_pause,
    run_rerun,
    run_resume,
    run_retry,
)
from refinement.services.runs.steering import INSTRUCTION_CHARS, instruction_give, instruction_withdraw

router = Router(tags=["Actions"])
LARGEST_NUMBER = 2**31 - 1
Kind = Literal["approved", "result", "changes", "rejected", "withdrawn"]


class More(Schema):
    """The number of rounds to add."""

    rounds: int = Field(ge=1, le=MOST_MORE_ROUNDS, examples=[2])


class Tags(Schema):
    """A run's tags; they replace existing ones."""

    tags: list[str] = Field(max_length=MOST_TAGS, examples=[["ci", "backups"]])


class InstructionNew(Schema):
    """What the next revision should do."""

    text: str = Field(max_length=INSTRUCTION_CHARS * 2, examples=["Keep it under 200 words."])


class InstructionShape(Schema):
    """An instruction; `round` is the one that used it."""

    id: int
    author_name: str
    text: str
    created_at: datetime
    used_in_round: int | None
    withdrawn_at: datetime | None


class DecisionNew(Schema):
    """A decision, based on the newest one you have seen."""

    kind: Kind
    reason: str = Field(max_length=REASON_CHARS * 2, examples=["Ready for the handbook."])
    round: int | None = Field(
        None, ge=1, le=LARGEST_NUMBER, description="The round, for approved and result."
    )
    seen: int = Field(0, ge=0, le=LARGEST_NUMBER, description="The newest decision's ID; 0 if there is none.")


class DecisionShape(Schema):
    """A decision. The newest applies; the judge's result is kept."""

    number: int
    kind: str
    round_number: int | None
    reason: str
    author_name: str
    at: datetime


def changed(request: ApiRequest, run: int, change: Callable[..., object], **values: object) -> RunWhole:
    """Performs the change and returns the run."""
    change(run=run_or_404(request, run), user=request.user, **values)
    return run_whole(run_or_404(request, run))


@router.post("/{int:run}/cancel", response=RunWhole)
@member("editor")
def run_cancelled(request: ApiRequest, run: int) -> RunWhole:
    """Cancel a run. Judged rounds are kept."""
    return changed(request, run, run_cancel)


@router.post("/{int:run}/pause", response=RunWhole)
@member("editor")
def run_paused(request: ApiRequest, run: int) -> RunWhole:
    """Pause a run."""
    return changed(request, run, run_pause)


@router.post("/{int:run}/resume", response=RunWhole)
@member("editor")
def run_resumed(request: ApiRequest, run: int) -> RunWhole:
    """Resume a paused run."""
    return changed(request, run, run_resume)


@router.post("/{int:run}/retry", response=RunWhole)
@member("editor")
def run_retried(request: ApiRequest, run: int) -> RunWhole:
    """Retry a run that ended in ERROR. Continues from its last completed step."""
    return changed(request, run, run_retry)


@router.post("/{int:run}/continue", response=RunWhole)
@member("editor")
def run_continued(request: ApiRequest, run: int, body: More) -> RunWhole:
    """Add rounds to a finished run. Continues from its best round."""
    return changed(request, run, run_continue, rounds=body.rounds)


@router.post("/{int:run}/archive", response=RunWhole)
@member("editor")
def run_archived(request: ApiRequest, run: int) -> RunWhole:
    """Archive a run."""
    return changed(request, run, run_archive)


@router.post("/{int:run}/unarchive", response=RunWhole)
@member("editor")
def run_unarchived(request: ApiRequest, run: int) -> RunWhole:
    """Unarchive a run."""
    return changed(request, run, run_archive, archived=False)


@router.post("/{int:run}/rerun", response={201: RunWhole})
@member("editor")
@creates()
def run_again(request: ApiRequest, run: int) -> RunWhole:
    """Rerun with the same task, starting text, rubric and models."""
    again = run_rerun(run=run_or_404(request, run), user=request.user)
    made_at(request, run_address(request, again.pk))
    return run_whole(again)


@router.put("/{int:run}/tags", response=Tags)
@member("editor")
def run_tag(request: ApiRequest, run: int, body: Tags) -> Tags:
    """Set a run's tags."""
    return Tags(tags=tags_set(run=run_or_404(request, run, whole=False), names=body.tags))


# --- steering -------------------------------------------------------------------------------------
@router.get("/{int:run}/instructions", response=Page[InstructionShape])
@member()
def instruction_list(request: ApiRequest, run: int, paging: Query[Paging]) -> Page[InstructionShape]:
    """List a run's instructions. In order, with their status."""
    rows = Instruction.objects.filter(run=run_or_404(request, run, whole=False))
    shown, following = page_by_number(rows, paging, newest_first=False)
    return Page[InstructionShape].of([instruction_shape(row) for row in shown], following)


@router.post("/{int:run}/instructions", response={201: InstructionShape})
@member("editor")
@creates()
def instruction_new(request: ApiRequest, run: int, body: InstructionNew) -> InstructionShape:
    """Add an instruction for the next revision."""
    return instruction_shape(instruction_give(run=found(request, run), text=body.text, user=request.user))


@router.delete("/{int:run}/instructions/{int:instruction}", response=InstructionShape)
@member("editor")
def instruction_withdrawn(request: ApiRequest, run: int, instruction: int) -> InstructionShape:
    """Withdraw an instruction. Not possible once a revision uses it."""
    given = instruction_withdraw(run=found(request, run), number=instruction, user=request.user)
    return instruction_shape(given)


# --- decisions ------------------------------------------------------------------------------------
@router.get("/{int:run}/decisions", response=Page[DecisionShape])
@member()
def decision_list(request: ApiRequest, run: int, paging: Query[Paging]) -> Page[DecisionShape]:
    """List decisions on a run. Newest first."""
    rows = Decision.objects.filter(run=found(request, run))
    shown, following = page_by_number(rows, paging, key="number")
    return Page[DecisionShape].of([decision_shape(row) for row in shown], following)


@router.post("/{int:run}/decisions", response={201: DecisionShape})
@member("editor")
@creates()
def decision_new(request: ApiRequest, run: int, body: DecisionNew) -> DecisionShape:
    """Decide on a run. 409 if someone decided since."""
    made = decision_make(
        run=found(request, run),
        kind=body.kind,
        reason=body.reason,
        seen=body.seen,
        user=request.user,
        round_number=body.round,
    )
    return decision_shape(made)


def found(request: ApiRequest, run: int) -> Run:
    return run_or_404(request, run, whole=False)


def instruction_shape(row: Instruction) -> InstructionShape:
    named = {name: getattr(row, name) for name in InstructionShape.model_fields if name != "id"}
    return InstructionShape(id=row.pk, **named)


def decision_shape(row: Decision) -> DecisionShape:
    return DecisionShape(**{name: getattr(row, name) for name in DecisionShape.model_fields})
