"""Writing down what a step brought: all of it in one transaction, fenced by the lease."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from refinement.engine.types import Assessment, Feedback, Finish, History
from refinement.judging.context import Brief
from refinement.models import (
    Call,
    CheckResult,
    EvaluatorResult,
    Event,
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
from refinement.selectors.live import WORKER_LOST
from refinement.services.events import event_record, event_values
from refinement.services.going_on import GoingOn, look_ahead
from refinement.services.leases import HELD, Lease, LeaseLost, held, lease_release, lease_write, released
from refinement.services.lost_connections import outlasting_lost_connections
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
STEP_DONE = {"step_calls": 0, "step_failures": 0, "step_unreadable": 0, "step_crashes": 0}


@dataclass(frozen=True, slots=True)
class Recorder:
    """Writes for one holder of a run: who it is, and whether it lets go after each step."""

    lease: Lease
    run: Run  # as it was when the step began
    actor: str
    release: bool
    brief: Brief | None = None  # by which a worker knows what comes after the step

    @outlasting_lost_connections
    def unfinished_call(self, call: Call, *, after: History) -> Finish | None:
        """A call that did not end its step: a reply to be asked about again."""
        change = {
            **usage_of(self.run, call),
            "step_calls": self.run.step_calls + 1,
            "step_failures": 0,
            "step_unreadable": self.run.step_unreadable + 1,
        }
        writes = Writes()
        writes.insert(call)
        told = {"round": call.round_number, "complaint": call.complaint[:500]}
        return self.pass_on(change, writes, EventKind.UNREADABLE, told, after=after)

    @outlasting_lost_connections
    def candidate(
        self,
        call: Call,
        *,
        number: int,
        candidate: str,
        base_round: int | None,
        feedback: Feedback | None,
        after: History,
    ) -> Finish | None:
        """A new round with its candidate, and the call that wrote it."""
        change = {**usage_of(self.run, call), **STEP_DONE}
        writes = Writes()
        writes.insert(call)
        drafted = feedback is None
        written = {
            "run_id": self.lease.run_id,
            "number": number,
            "origin": RoundOrigin.DRAFT if drafted else RoundOrigin.REVISION,
            "base_round": base_round,
            "feedback": feedback_values(feedback),
            "candidate": candidate,
            "candidate_chars": len(candidate),
            "candidate_cut": call.finish_reason == "length",
        }
        writes.add(Round, written)
        beside = None
        if feedback is not None and feedback.instructions:
            beside = partial(self.use_instructions, feedback, number)
        kind = EventKind.DRAFTED if drafted else EventKind.REVISED
        told = {"round": number, "chars": len(candidate)}
        return self.pass_on(change, writes, kind, told, beside, after=after)

    def use_instructions(self, feedback: Feedback, number: int) -> None:
        """What people said is used up by the round that was written with it: all of it or none."""
        told = [entry.number for entry in feedback.instructions]
        waiting = Instruction.objects.filter(
            run_id=self.lease.run_id, pk__in=told, used_in_round__isnull=True, withdrawn_at__isnull=True
        )
        if waiting.update(used_in_round=number) != len(told):
            raise LeaseLost(f"what run {self.lease.run_id} was told has changed meanwhile")

    @outlasting_lost_connections
    @transaction.atomic
    def evaluator_result(self, result: EvaluatorResult, number: int) -> None:
        """What the evaluator's command said of a round: kept before the judge is asked."""
        lease_write(self.lease, wakes=0)  # the fence: whoever lost the run writes nothing
        result.round = Round.objects.only("pk").get(run_id=self.lease.run_id, number=number)
        row_add(result)

    @outlasting_lost_connections
    def assessment(self, call: Call | None, judged: Judged, *, after: History) -> Finish | None:
        """What judge and checks said of a round, with the run's figures as they now stand."""
        number, assessment = judged.number, judged.assessment
        change = {
            **figures_of(self.run, judged),
            **(usage_of(self.run, call) if call else {}),
            **STEP_DONE,
        }
        writes = Writes()
        if call is not None:
            writes.insert(call)
        place = [self.lease.run_id, number]
        writes.update(Round, judged_values(judged, call), UNJUDGED, place)
        for position, verdict in enumerate(assessment.verdicts):
            said = {"position": position, **verdict_values(verdict)}
            writes.add(VerdictRow, said, round_id=Found(ROUND_KEY, place))
        beside = partial(self.keep_checks, number, assessment) if assessment.checks else None
        told = {"round": number, "composite": str(round(assessment.composite, 6))}
        return self.pass_on(change, writes, EventKind.JUDGED, told, beside, after=after)

    def keep_checks(self, number: int, assessment: Assessment) -> None:
        key = Round.objects.values_list("pk", flat=True).get(run_id=self.lease.run_id, number=number)
        CheckResult.objects.bulk_create(check_rows(key, assessment))

    @outlasting_lost_connections
    def failure(self, call: Call | None, *, role: str, message: str) -> None:
        """A step that is given up; the next step ends the run in ERROR."""
        message = storable(message)
        change = {
            "failure_role": role,
            "failure_message": message,
            **(usage_of(self.run, call) if call else {}),
            "step_calls": self.run.step_calls + bool(call),
            "step_failures": self.run.step_failures + bool(call),
        }
        writes = Writes()
        if call is not None:
            writes.insert(call)
        self.pass_on(change, writes, EventKind.FAILED, {"role": role, "message": message})

    @outlasting_lost_connections
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

    @outlasting_lost_connections
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

    @outlasting_lost_connections
    @transaction.atomic
    def wait_after_crash(self, *, delay: timedelta) -> None:
        """Workers were lost in this step; the run is let go and comes back later."""
        until = timezone.now() + delay
        reason = f"{WORKER_LOST} {self.run.step_crashes} times during this step."
        lease_release(
            self.lease, status=RunStatus.WAITING, next_try_at=until, waiting_for=reason, woken_at=until
        )
        self.event(EventKind.WAITING, until=until.isoformat(), reason=reason, error="worker_lost")
        run_wake(self.lease.run_id, delay=delay)

    @outlasting_lost_connections
    def finish(self, finish: Finish) -> None:
        """The end of a run as a step of its own."""
        self.end(finish, self.run, {}, Writes())

    def end(
        self,
        finish: Finish,
        run: Run,
        change: dict[str, Any],
        writes: Writes,
        beside: Callable[[], None] | None = None,
    ) -> None:
        """Makes the writes together with the run's end; `run` is what they make of it."""
        over = {
            "status": RunStatus.FINISHED,
            "outcome": finish.outcome,
            "stop_reason": finish.reason,
            "why": finish.why,
            "best_round": finish.best_round,
            "finished_at": timezone.now(),
        }
        said = {"outcome": finish.outcome, "reason": finish.reason, "why": finish.why}
        writes.add(Event, event_values(run.pk, EventKind.STOPPED, actor=self.actor, data=said))
        if ends_loudly(run):
            beside = partial(_all, beside, partial(tell_of_end, run, finish))
        self.make(writes, released(**{**change, **over}), beside)

    def make(self, writes: Writes, lead: dict[str, Any], beside: Callable[[], None] | None) -> None:
        """The writes begin with the run's own row: they are made by its holder or not at all."""
        writes.lead(Run, lead, HELD, held(self.lease))
        if not writes.make(beside):
            raise self.lost()

    def lost(self) -> LeaseLost:
        return LeaseLost(f"run {self.lease.run_id} is no longer held by {self.lease.owner}")

    def pass_on(
        self,
        change: dict[str, Any],
        writes: Writes,
        kind: str,
        told: Mapping[str, object],
        beside: Callable[[], None] | None = None,
        *,
        after: History | None = None,
    ) -> Finish | None:
        """Makes the writes with the event that tells of them; a worker's see to what comes next as well."""
        writes.add(Event, event_values(self.lease.run_id, kind, actor=self.actor, data=told))
        if not self.release:
            self.make(writes, {**change, "calling_endpoint": ""}, beside)
            return None
        ahead = look_ahead(self.run, change, self.brief, after)
        if ahead is not None and isinstance(ahead.step, Finish):
            self.end(ahead.step, ahead.run, change, writes, beside)
            return ahead.step
        going = GoingOn(self.lease, self.actor, change, writes, beside, ahead)
        if not (going.joined() if sending_joins() else going.afterwards()):
            raise self.lost()
        return None

    def event(self, kind: str, **data: object) -> None:
        event_record(self.lease.run_id, kind, actor=self.actor, data=data)


def tell_of_end(run: Run, finish: Finish) -> None:
    """In the transaction of the end, so that whoever is to be told is told exactly once."""
    LiveText.objects.filter(run_id=run.pk).delete()
    notice_run_ended(run, outcome=finish.outcome)
    hook_run_finished(run)
    reviews_by_rules(run, finish.outcome)


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
