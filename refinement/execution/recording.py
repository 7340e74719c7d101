"""Recording what a step brought: one transaction for each step, fenced by the lease."""

import copy
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from refinement.engine.steps import next_step
from refinement.engine.types import Feedback, Finish, History, Rubric
from refinement.execution.events import event_record
from refinement.execution.leases import LEASE, Lease, LeaseLost, lease_release, lease_write, released
from refinement.execution.lost_connections import outlasting_lost_connections
from refinement.execution.record_values import (
    Judged,
    check_rows,
    feedback_values,
    figures_of,
    judged_values,
    usage_of,
    verdict_values,
)
from refinement.execution.signals import run_ended, run_waiting
from refinement.execution.slots import waiting_words
from refinement.execution.waking import wake
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
    Verdict,
)
from refinement.selectors.runs.history import account_of
from refinement.selectors.runs.live import WORKER_LOST
from refinement.texts import storable

log = logging.getLogger("wiggum.steps")
STEP_DONE = {"step_calls": 0, "step_failures": 0, "step_unreadable": 0, "crashes": 0}


@dataclass(frozen=True, slots=True)
class Recorder:
    """Writes as the holder of a run's lease.

    The methods that record a step take the history as the step leaves it, and return it with the run's
    account as it then is. All of them raise LeaseLost when the lease is no longer held; nothing is written
    then.
    """

    lease: Lease[Run]
    rubric: Rubric | None  # None for a recorder that only ends the run or makes it wait
    actor: str
    sends: bool  # whether a run that has to wait is sent for; in the foreground somebody waits with it

    @property
    def run(self) -> Run:
        return self.lease.row

    @outlasting_lost_connections
    def unfinished_call(self, call: Call, *, after: History) -> History:
        """A call that did not end its step: a reply to be asked about again."""
        change = {
            **usage_of(self.run, call),
            "step_calls": self.run.step_calls + 1,
            "step_failures": 0,
            "step_unreadable": self.run.step_unreadable + 1,
        }
        with self.step(change, after):
            insert(call)
            self.event(EventKind.UNREADABLE, round=call.round_number, complaint=call.complaint[:500])
        return self.history(after)

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
    ) -> History:
        """A new round with its candidate, and the call that wrote it."""
        with self.step({**usage_of(self.run, call), **STEP_DONE}, after):
            insert(call)
            Round.objects.create(
                run_id=self.lease.row.pk,
                number=number,
                origin=RoundOrigin.REVISION if feedback else RoundOrigin.DRAFT,
                base_round=base_round,
                feedback=feedback_values(feedback),
                candidate=candidate,
                candidate_chars=len(candidate),
                candidate_cut=call.finish_reason == "length",
            )
            if feedback is not None and feedback.instructions:
                self.use_instructions(feedback, number)
            kind = EventKind.REVISED if feedback else EventKind.DRAFTED
            self.event(kind, round=number, chars=len(candidate))
        return self.history(after)

    def use_instructions(self, feedback: Feedback, number: int) -> None:
        """Marks what people asked for as used by this round: all of it or none."""
        used = [entry.number for entry in feedback.instructions]
        waiting = Instruction.objects.filter(
            run_id=self.lease.row.pk, pk__in=used, used_in_round__isnull=True, withdrawn_at__isnull=True
        )
        if waiting.update(used_in_round=number) != len(used):
            raise LeaseLost(f"what run {self.lease.row.pk} was told has changed meanwhile")

    @outlasting_lost_connections
    @transaction.atomic
    def evaluator_result(self, result: EvaluatorResult, number: int) -> None:
        """What the evaluator's command said of a round: kept before the judge is asked."""
        lease_write(self.lease, wakes=0)  # only the holder of the lease writes
        result.round = Round.objects.only("pk").get(run_id=self.lease.row.pk, number=number)
        insert(result)

    @outlasting_lost_connections
    def assessment(self, call: Call | None, judged: Judged, *, after: History) -> History:
        """What judge and checks said of a round, with the run's figures as they now stand."""
        change = {
            **figures_of(self.run, judged),
            **(usage_of(self.run, call) if call else {}),
            **STEP_DONE,
        }
        with self.step(change, after):
            if call is not None:
                insert(call)
            self.judge_round(judged, call)
            composite = str(round(judged.assessment.composite, 6))
            self.event(EventKind.JUDGED, round=judged.number, composite=composite)
        return self.history(after)

    def judge_round(self, judged: Judged, call: Call | None) -> None:
        """Fills in the round's assessment; raises Round.DoesNotExist if it has one already."""
        unjudged = Round.objects.filter(run_id=self.lease.row.pk, number=judged.number, judged_at=None)
        key = unjudged.values_list("pk", flat=True).get()
        unjudged.update(**judged_values(judged, call))
        Verdict.objects.bulk_create(
            Verdict(round_id=key, position=position, **verdict_values(verdict))
            for position, verdict in enumerate(judged.assessment.verdicts)
        )
        CheckResult.objects.bulk_create(check_rows(key, judged.assessment))

    @outlasting_lost_connections
    def failure(self, call: Call | None, *, role: str, message: str, after: History) -> History:
        """A step that is given up; the engine then ends the run in ERROR."""
        message = storable(message)
        change = {
            "failure_role": role,
            "failure_message": message,
            **(usage_of(self.run, call) if call else {}),
            "step_calls": self.run.step_calls + bool(call),
            "step_failures": self.run.step_failures + bool(call),
        }
        with self.step(change, after):
            if call is not None:
                insert(call)
            self.event(EventKind.FAILED, role=role, message=message)
        return self.history(after)

    @outlasting_lost_connections
    @transaction.atomic
    def waiting(self, call: Call, *, until: datetime, reason: str, endpoint: str) -> None:
        """A call without a reply: the run waits for its server, and the lease is given back."""
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
        insert(call)
        self.event(EventKind.WAITING, until=until.isoformat(), reason=reason, error=call.error_kind)
        if not self.run.step_failures:  # it begins to wait; further tries of the same step are no news
            run_waiting.send(Run, run=self.run, reason=reason, endpoint=endpoint)
        if self.sends:
            wake(Run, self.lease.row.pk, delay=until - timezone.now())

    @outlasting_lost_connections
    @transaction.atomic
    def queue_for_slot(self, *, endpoint: str, delay: timedelta) -> datetime:
        """The endpoint serves as many as it may; the lease is given back and the run comes back shortly."""
        until = timezone.now() + delay
        lease_release(
            self.lease,
            status=RunStatus.WAITING,
            next_try_at=until,
            waiting_for=waiting_words(endpoint),
            waiting_endpoint=endpoint,
            woken_at=until,
        )
        if self.sends:
            wake(Run, self.lease.row.pk, delay=delay)
        return until

    @outlasting_lost_connections
    @transaction.atomic
    def wait_after_crash(self, *, delay: timedelta) -> None:
        """Workers were lost in this step; the lease is given back and the run comes back later."""
        until = timezone.now() + delay
        reason = f"{WORKER_LOST} {self.run.crashes} times during this step."
        lease_release(
            self.lease, status=RunStatus.WAITING, next_try_at=until, waiting_for=reason, woken_at=until
        )
        self.event(EventKind.WAITING, until=until.isoformat(), reason=reason, error="worker_lost")
        wake(Run, self.lease.row.pk, delay=delay)

    @outlasting_lost_connections
    @transaction.atomic
    def stand_in_line(self) -> None:
        """Gives the lease back and sends for the run again: it goes on when it is its turn."""
        lease_release(self.lease, woken_at=timezone.now())
        wake(Run, self.lease.row.pk)

    @outlasting_lost_connections
    def finish(self, finish: Finish) -> None:
        """Ends the run, unless its end was written with its last step."""
        if self.run.is_finished:
            return
        ended = copy.copy(self.run)
        with transaction.atomic():
            self.end(ended, finish)
        self.lease.row = ended

    @contextmanager
    def step(self, change: dict[str, Any], after: History) -> Iterator[None]:
        """One transaction: the run's row with a renewed lease, the caller's writes, the end if it has come.

        The attempt rises with it: were the commit's answer lost and all of this done again, the second try
        would find no row.
        """
        run = copy.copy(self.run)
        renewal = {"attempt": self.lease.attempt + 1, "lease_until": timezone.now() + LEASE}
        assign(run, {**change, **renewal, "calling_endpoint": "", "wakes": 0})
        with transaction.atomic():
            lease_write(self.lease, **change, **renewal, calling_endpoint="", wakes=0)
            yield
            finish = self.finish_after(run, after)
            if finish is not None:
                self.end(run, finish)
        self.lease.row, self.lease.attempt = run, run.attempt

    def finish_after(self, run: Run, after: History) -> Finish | None:
        """The end, if the engine says that the run has come to it."""
        if self.rubric is None:
            return None
        try:
            step = next_step(self.rubric, replace(after, **account_of(run)))
        except Exception:
            # The result is kept all the same; the loop will fail to decide the next step, and say so.
            log.exception("run=%s: the step after this one cannot be decided", run.pk)
            return None
        return step if isinstance(step, Finish) else None

    def end(self, run: Run, finish: Finish) -> None:
        """Writes the end into the row, and tells everybody once: in the same transaction."""
        over = released(
            status=RunStatus.FINISHED,
            outcome=finish.outcome,
            stop_reason=finish.reason,
            why=finish.why,
            best_round=finish.best_round,
            finished_at=timezone.now(),
        )
        held = Run.objects.filter(
            pk=run.pk, lease_owner=self.lease.owner, attempt=run.attempt, status=RunStatus.RUNNING
        )
        if not held.update(**over):
            raise LeaseLost(f"run {run.pk} is no longer held by {self.lease.owner}")
        assign(run, over)
        self.event(EventKind.STOPPED, outcome=finish.outcome, reason=finish.reason, why=finish.why)
        LiveText.objects.filter(run_id=run.pk).delete()
        run_ended.send(Run, run=run, outcome=finish.outcome)

    def history(self, after: History) -> History:
        """The history after a step, with the run's account as it now is."""
        return replace(after, **account_of(self.run))

    def event(self, kind: str, **data: object) -> None:
        event_record(self.lease.row.pk, kind, actor=self.actor, data=data)


def insert(row: Model) -> None:
    """Adds a row. Its key is cleared first: a try that was rolled back may have set one."""
    row.pk = None
    row.save(force_insert=True)


def assign(run: Run, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(run, name, value)
