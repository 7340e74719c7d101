"""Writing down what a step brought: all of it in one transaction, fenced by the lease."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from refinement.engine.types import Assessment, Feedback, Finish, History
from refinement.models import (
    Call,
    CheckResult,
    EvaluatorResult,
    EventKind,
    Instruction,
    LiveText,
    Round,
    RoundOrigin,
    Run,
    RunStatus,
)
from refinement.models import Verdict as VerdictRow
from refinement.models.statements import row_add, rows_select
from refinement.models.writes import Found, Writes
from refinement.services.events import event_record, event_row
from refinement.services.leases import HELD, Lease, LeaseLost, held, lease_release, lease_write, released
from refinement.services.notices import notice_run_ended, notice_run_waits
from refinement.services.record_values import (
    Judged,
    check_rows,
    feedback_values,
    figures_of,
    judged_values,
    usage_of,
    verdict_values,
)
from refinement.services.review_rules import ANY_RULE, reviews_by_rules
from refinement.services.texts import storable
from refinement.services.waking import run_wake, sending_joins
from refinement.services.webhook_events import ANY_WEBHOOK, hook_run_finished, hook_run_waiting

UNJUDGED = '"run_id" = %s AND "number" = %s AND "judged_at" IS NULL'
ROUND_KEY = f'SELECT "id" FROM "{Round._meta.db_table}" WHERE "run_id" = %s AND "number" = %s'  # noqa: S608
ANY_LIVE_TEXT = f'SELECT 1 FROM "{LiveText._meta.db_table}" WHERE "run_id" = %s'  # noqa: S608
# One look for all that a run's end may set off: most runs' ends set off nothing.
LOUD_END = f"SELECT EXISTS ({ANY_LIVE_TEXT}) OR EXISTS ({ANY_WEBHOOK}) OR EXISTS ({ANY_RULE})"
STEP_DONE = {"step_calls": 0, "step_failures": 0, "step_unreadable": 0}


def ignore_history(history: History) -> None:
    """For who needs none."""


@dataclass(frozen=True, slots=True)
class Recorder:
    """Writes for one holder of a run: who it is, and whether it lets go after each step."""

    lease: Lease
    run: Run  # as it was when the step began
    actor: str
    release: bool
    # What the run's history is after the step: told when it is written, and before anybody goes on from it.
    keep: Callable[[History], None] = ignore_history

    def unfinished_call(self, call: Call, *, after: History) -> None:
        """A call that did not end its step: a reply to be asked about again."""
        writes = self.writes(
            **usage_of(self.run, call),
            step_calls=self.run.step_calls + 1,
            step_failures=0,
            step_unreadable=self.run.step_unreadable + 1,
        )
        writes.insert(call)
        told = {"round": call.round_number, "complaint": call.complaint[:500]}
        self.pass_on(writes, EventKind.UNREADABLE, told, after=after)

    def candidate(
        self,
        call: Call,
        *,
        number: int,
        candidate: str,
        base_round: int | None,
        feedback: Feedback | None,
        after: History,
    ) -> None:
        """A new round with its candidate, and the call that wrote it."""
        writes = self.writes(**usage_of(self.run, call), **STEP_DONE)
        writes.insert(call)
        drafted = feedback is None
        writes.insert(
            Round(
                run_id=self.lease.run_id,
                number=number,
                origin=RoundOrigin.DRAFT if drafted else RoundOrigin.REVISION,
                base_round=base_round,
                feedback=feedback_values(feedback),
                candidate=candidate,
                candidate_chars=len(candidate),
                candidate_cut=call.finish_reason == "length",
            )
        )
        beside = None
        if feedback is not None and feedback.instructions:
            beside = partial(self.use_instructions, feedback, number)
        kind = EventKind.DRAFTED if drafted else EventKind.REVISED
        self.pass_on(writes, kind, {"round": number, "chars": len(candidate)}, beside, after=after)

    def use_instructions(self, feedback: Feedback, number: int) -> None:
        """What people said is used up by the round that was written with it: all of it or none."""
        told = [entry.number for entry in feedback.instructions]
        waiting = Instruction.objects.filter(
            run_id=self.lease.run_id, pk__in=told, used_in_round__isnull=True, withdrawn_at__isnull=True
        )
        if waiting.update(used_in_round=number) != len(told):
            raise LeaseLost(f"what run {self.lease.run_id} was told has changed meanwhile")

    @transaction.atomic
    def evaluator_result(self, result: EvaluatorResult, number: int) -> None:
        """What the evaluator's command said of a round: kept before the judge is asked."""
        lease_write(self.lease, wakes=0)  # the fence: whoever lost the run writes nothing
        result.round = Round.objects.only("pk").get(run_id=self.lease.run_id, number=number)
        row_add(result)

    def assessment(self, call: Call | None, judged: Judged, *, after: History) -> None:
        """What judge and checks said of a round, with the run's figures as they now stand."""
        number, assessment = judged.number, judged.assessment
        writes = self.writes(
            **figures_of(self.run, judged),
            **(usage_of(self.run, call) if call else {}),
            **STEP_DONE,
        )
        if call is not None:
            writes.insert(call)
        place = [self.lease.run_id, number]
        writes.update(Round, judged_values(judged, call), UNJUDGED, place)
        for position, verdict in enumerate(assessment.verdicts):
            row = VerdictRow(position=position, **verdict_values(verdict))
            writes.insert(row, round_id=Found(ROUND_KEY, place))
        beside = partial(self.keep_checks, number, assessment) if assessment.checks else None
        told = {"round": number, "composite": str(round(assessment.composite, 6))}
        self.pass_on(writes, EventKind.JUDGED, told, beside, after=after)

    def keep_checks(self, number: int, assessment: Assessment) -> None:
        key = Round.objects.values_list("pk", flat=True).get(run_id=self.lease.run_id, number=number)
        CheckResult.objects.bulk_create(check_rows(key, assessment))

    def failure(self, call: Call | None, *, role: str, message: str) -> None:
        """A step that is given up; the next step ends the run in ERROR."""
        message = storable(message)
        writes = self.writes(
            failure_role=role,
            failure_message=message,
            **(usage_of(self.run, call) if call else {}),
            step_calls=self.run.step_calls + bool(call),
            step_failures=self.run.step_failures + bool(call),
        )
        if call is not None:
            writes.insert(call)
        self.pass_on(writes, EventKind.FAILED, {"role": role, "message": message})

    @transaction.atomic
    def waiting(self, call: Call, *, until: datetime, reason: str, endpoint: str) -> None:
        """A call without a reply: the run waits for its server and is let go until then."""
        reason = storable(reason)
        lease_release(
            self.lease,
            status=RunStatus.WAITING,
            next_try_at=until,
            waiting_for=reason,
            waiting_endpoint=endpoint,
            woken_at=until,
            **usage_of(self.run, call),
            step_calls=self.run.step_calls + 1,
            step_failures=self.run.step_failures + 1,
        )
        row_add(call)
        self.event(EventKind.WAITING, until=until.isoformat(), reason=reason, error=call.error_kind)
        if not self.run.step_failures:  # it begins to wait; further tries of the same step are no news
            notice_run_waits(self.run, reason=reason)
            hook_run_waiting(self.run, endpoint=endpoint)
        if self.release:
            run_wake(self.lease.run_id, delay=until - timezone.now())

    @transaction.atomic
    def queue_for_place(self, *, endpoint: str, delay: timedelta) -> datetime:
        """The endpoint serves as many as it may; the run is let go and comes back shortly."""
        until = timezone.now() + delay
        lease_release(
            self.lease,
            status=RunStatus.WAITING,
            next_try_at=until,
            waiting_for=f"a free place at {endpoint}",
            waiting_endpoint=endpoint,
            woken_at=until,
        )
        if self.release:
            run_wake(self.lease.run_id, delay=delay)
        return until

    def finish(self, finish: Finish) -> None:
        """The end of a run."""
        writes = Writes()
        end = released(
            status=RunStatus.FINISHED,
            outcome=finish.outcome,
            stop_reason=finish.reason,
            why=finish.why,
            best_round=finish.best_round,
            finished_at=timezone.now(),
        )
        writes.update(Run, end, HELD, held(self.lease))
        said = {"outcome": finish.outcome, "reason": finish.reason, "why": finish.why}
        writes.insert(event_row(self.lease.run_id, EventKind.STOPPED, actor=self.actor, data=said))
        if not writes.make(partial(self.tell_of_end, finish) if ends_loudly(self.run) else None):
            raise LeaseLost(f"run {self.lease.run_id} is no longer held by {self.lease.owner}")

    def tell_of_end(self, finish: Finish) -> None:
        """In the transaction of the end, so that whoever is to be told is told exactly once."""
        LiveText.objects.filter(run_id=self.lease.run_id).delete()
        notice_run_ended(self.run, outcome=finish.outcome)
        hook_run_finished(self.run)
        reviews_by_rules(self.run, finish.outcome)

    def writes(self, **fields: Any) -> Writes:
        """A step's writes, which begin with the run's own row: they are made by its holder or not at all."""
        if self.release:
            fields = released(woken_at=timezone.now(), **fields)
        else:
            fields["calling_endpoint"] = ""
        writes = Writes()
        writes.update(Run, fields, HELD, held(self.lease))
        return writes

    def pass_on(
        self,
        writes: Writes,
        kind: str,
        told: Mapping[str, object],
        beside: Callable[[], None] | None = None,
        *,
        after: History | None = None,
    ) -> None:
        """Makes the writes with the event that tells of them and, where the holder lets go, sends on."""
        run_id = self.lease.run_id
        writes.insert(event_row(run_id, kind, actor=self.actor, data=told))
        keep = partial(self.keep, after) if after is not None else None
        joins = self.release and sending_joins()
        if joins:
            beside = partial(_all, beside, partial(_on_commit, keep), partial(run_wake, run_id))
        if not writes.make(beside):
            raise LeaseLost(f"run {run_id} is no longer held by {self.lease.owner}")
        if not joins:
            # In this order: whoever gets the message may be a thread of this process.
            _all(keep, partial(run_wake, run_id) if self.release else None)

    def event(self, kind: str, **data: object) -> None:
        event_record(self.lease.run_id, kind, actor=self.actor, data=data)


def ends_loudly(run: Run) -> bool:
    """Whether anybody or anything is to hear of the run's end."""
    if run.created_by_id is not None:
        return True
    ((loud,),) = rows_select(LOUD_END, [run.pk, run.project_id, run.project_id])
    return bool(loud)


def _all(*doings: Callable[[], None] | None) -> None:
    for do in doings:
        if do is not None:
            do()


def _on_commit(do: Callable[[], None] | None) -> None:
    """Before the ring for the message that is sent next: what is on commit is done in order."""
    if do is not None:
        transaction.on_commit(do)
