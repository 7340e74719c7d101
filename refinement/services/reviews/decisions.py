"""What people decide about a run: kept in order beside the judge's record, which stays as it is."""

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from refinement.execution.events import actor_name, event_record
from refinement.models import Decision, DecisionKind, EventKind, Run, User
from refinement.services.audit import audit_record
from refinement.services.notices.creating import notice_decision
from refinement.services.reviews.requests import review_done
from refinement.services.runs.lifecycle import locked
from refinement.texts import storable

REASON_CHARS = 4_000
NAMES_A_ROUND = (DecisionKind.RESULT, DecisionKind.APPROVED)


class DecidedMeanwhile(Exception):
    """Somebody decided since the form was opened; `newest` is that decision."""

    def __init__(self, newest: Decision) -> None:
        super().__init__(f"decision {newest.number} was made meanwhile")
        self.newest = newest


@transaction.atomic
def decision_make(
    *, run: Run, kind: str, reason: str, seen: int, user: User, round_number: int | None = None
) -> Decision:
    """The run's next decision, on top of the one that the person has seen (0 where there is none)."""
    run = locked(run)
    newest = run.decisions.last()
    if newest is not None and newest.number != seen:
        raise DecidedMeanwhile(newest)
    words = storable(reason).replace("\r\n", "\n").strip()
    names = round_number if kind in NAMES_A_ROUND else None
    refuse_odd(run, kind, words, names)
    try:
        with transaction.atomic():
            made = Decision.objects.create(
                run=run, number=(newest.number if newest else 0) + 1, kind=kind, round_number=names,
                reason=words, author=user, author_name=user.display_name[:120],
            )  # fmt: skip
    except IntegrityError:
        raise DecidedMeanwhile(run.decisions.get(number=(newest.number if newest else 0) + 1)) from None
    _hold(run, made, user)
    notice_decision(made)
    review_done(run=run, user=user)
    return made


def refuse_odd(run: Run, kind: str, reason: str, round_number: int | None) -> None:
    """Everything that keeps a decision from being made, by field."""
    found: dict[str, str] = {}
    if kind not in DecisionKind.values:
        found["kind"] = "Choose what you decide."
    elif kind == DecisionKind.WITHDRAWN and not run.decision:
        found["kind"] = "There is no decision to withdraw."
    elif kind in NAMES_A_ROUND and round_number is None:
        found["round"] = "Choose the round that you mean."
    elif round_number is not None and not run.rounds.filter(number=round_number).exists():
        found["round"] = "There is no such round in this run."
    elif kind == DecisionKind.RESULT and round_number == run.best_round:
        found["round"] = "The judge has this round as the best already; approve it instead."
    if not reason:
        found["reason"] = "Say why, for those who read this later."
    elif len(reason) > REASON_CHARS:
        found["reason"] = f"A reason has at most {REASON_CHARS:,} characters; this one has {len(reason):,}."
    if found:
        raise ValidationError(found)


def _hold(run: Run, made: Decision, user: User) -> None:
    """The run's row follows its newest decision; nothing that the judge said is touched."""
    before = {"decision": run.decision or "", "chosen_round": run.chosen_round}
    in_force = made.kind != DecisionKind.WITHDRAWN
    run.decision = made.kind if in_force else None
    run.chosen_round = made.round_number if in_force else None
    Run.objects.filter(pk=run.pk).update(decision=run.decision, chosen_round=run.chosen_round)
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
            "reason": made.reason,
        },
    )
    event_record(run.pk, EventKind.DECIDED, actor=actor_name(user), user=user, data={"decision": made.number})
