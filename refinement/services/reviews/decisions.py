"""Decisions on runs, numbered in order. They never change the judge's results."""

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from refinement.execution.events import actor_name, event_record
from refinement.models import Decision, DecisionKind, EventKind, Run, User
from refinement.services.audit import audit_record
from refinement.services.notices.creating import notice_decision
from refinement.services.reviews.people_gap import people_gap_store
from refinement.services.reviews.requests import review_done
from refinement.services.runs.lifecycle import locked
from refinement.texts import storable

REASON_CHARS = 4_000
ROUND_REQUIRED = (DecisionKind.RESULT, DecisionKind.APPROVED)


class DecisionConflict(Exception):
    """Another decision was made since the form was opened; `newest` is that decision."""

    def __init__(self, newest: Decision) -> None:
        super().__init__(f"decision {newest.number} was made in the meantime")
        self.newest = newest


@transaction.atomic
def decision_make(
    *, run: Run, kind: str, reason: str, seen: int, user: User, round_number: int | None = None
) -> Decision:
    """Record the run's next decision.

    `seen` is the number of the newest decision the user has seen, 0 for none. Raises DecisionConflict if
    there is a newer one, and ValidationError.
    """
    run = locked(run)
    newest = run.decisions.last()
    if newest is not None and newest.number != seen:
        raise DecisionConflict(newest)
    text = storable(reason).replace("\r\n", "\n").strip()
    chosen = round_number if kind in ROUND_REQUIRED else None
    validate_decision(run, kind, text, chosen)
    try:
        with transaction.atomic():
            decision = Decision.objects.create(
                run=run, number=(newest.number if newest else 0) + 1, kind=kind, round_number=chosen,
                reason=text, author=user, author_name=user.display_name[:120],
            )  # fmt: skip
    except IntegrityError:
        raise DecisionConflict(run.decisions.get(number=(newest.number if newest else 0) + 1)) from None
    _apply(run, decision, user)
    notice_decision(decision)
    review_done(run=run, user=user)
    return decision


def validate_decision(run: Run, kind: str, reason: str, round_number: int | None) -> None:
    """Raises ValidationError with all problems by field."""
    errors: dict[str, str] = {}
    if kind not in DecisionKind.values:
        errors["kind"] = "Choose a decision."
    elif kind == DecisionKind.WITHDRAWN and not run.decision:
        errors["kind"] = "There is no decision to withdraw."
    elif kind in ROUND_REQUIRED and round_number is None:
        errors["round"] = "Choose a round."
    elif round_number is not None and not run.rounds.filter(number=round_number).exists():
        errors["round"] = "This run has no such round."
    elif kind == DecisionKind.RESULT and round_number == run.best_round:
        errors["round"] = "This round is already the judge's best. Approve it instead."
    if not reason:
        errors["reason"] = "Enter a reason."
    elif len(reason) > REASON_CHARS:
        errors["reason"] = f"A reason can have {REASON_CHARS:,} characters; this one has {len(reason):,}."
    if errors:
        raise ValidationError(errors)


def _apply(run: Run, decision: Decision, user: User) -> None:
    """Copy the newest decision to the run's row. The judge's fields stay as they are."""
    before = {"decision": run.decision or "", "chosen_round": run.chosen_round}
    in_force = decision.kind != DecisionKind.WITHDRAWN
    run.decision = decision.kind if in_force else None
    run.chosen_round = decision.round_number if in_force else None
    Run.objects.filter(pk=run.pk).update(decision=run.decision, chosen_round=run.chosen_round)
    people_gap_store(run)
    audit_record(
        action="run.decide",
        object_type="run",
        object_id=run.pk,
        project=run.project,
        user=user,
        before=before,
        after={
            "decision": run.decision or "withdrawn",
            "chosen_round": run.chosen_round,
            "reason": decision.reason,
        },
    )
    event_record(
        run.pk, EventKind.DECIDED, actor=actor_name(user), user=user, data={"decision": decision.number}
    )
