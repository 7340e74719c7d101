"""Records a step's results: one transaction per step, fenced by the lease."""

import copy
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from refinement.engine.steps import next_step
from refinement.engine.types import Feedback, Finish, History, Rubric
from refinement.execution.events import event_record
from refinement.execution.leases import LEASE, Lease, LeaseLost, lease_release, lease_write, released
from refinement.execution.lost_connections import retry_lost_connection
from refinement.execution.signals import run_asking, run_ended, run_waiting
from refinement.execution.slots import waiting_label
from refinement.execution.steps.record_values import (
    JudgedRound,
    check_rows,
    feedback_values,
    judged_values,
    run_score_values,
    usage_values,
    verdict_values,
)
from refinement.execution.waking import wake
from refinement.models import (
    Call,
    CheckResult,
    EvaluatorRepeat,
    EvaluatorResult,
    EventKind,
    Instruction,
    LiveText,
    Round,
    RoundOrigin,
    Run,
    RunStatus,
    ValidationResult,
    Verdict,
)
from refinement.selectors.runs.history import account_of
from refinement.selectors.runs.live.steps import WORKER_LOST
from refinement.texts import storable

log = logging.getLogger("wiggum.steps")
STEP_DONE: dict[str, object] = {
    "step_calls": 0,
    "step_failures": 0,
    "step_unreadable": 0,
    "board_unreadable": {},
    "crashes": 0,
}


@dataclass(frozen=True, slots=True)
class Recorder:
    """Writes a run's results for the holder of its lease.

    The methods that record a step take the history as the step leaves it (`after`), and return it with the
    run's new usage totals. If the engine says that the run is over, its end is written in the same
    transaction. Every method raises LeaseLost, and writes nothing, if the lease is no longer held. A lost
    database connection is retried.
    """

    lease: Lease[Run]
    rubric: Rubric | None  # None for a recorder that only ends the run or makes it wait
    actor: str
    sends: bool  # whether to queue a message for a run that has to wait; the foreground sleeps instead
    round_keys: dict[int, int] = field(default_factory=dict)  # primary keys of rounds, by number

    @property
    def run(self) -> Run:
        return self.lease.row

    @retry_lost_connection
    def unfinished_call(self, call: Call, *, after: History) -> History:
        """Records a call with an unreadable reply; the next step asks the judge again."""
        change = {
            **usage_values(self.run, call),
            "step_calls": self.run.step_calls + 1,
            "step_failures": 0,
            "step_unreadable": self.run.step_unreadable + 1,
        }
        with self.step(change, after):
            insert(call)
            self.event(EventKind.UNREADABLE, round=call.round_number, complaint=call.complaint[:500])
        return self.history(after)

    @retry_lost_connection
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
        """Records a new round with its candidate, and the call that wrote it."""
        with self.step({**usage_values(self.run, call), **STEP_DONE}, after):
            insert(call)
            row = Round.objects.create(
                run_id=self.lease.row.pk,
                number=number,
                origin=RoundOrigin.REVISION if feedback else RoundOrigin.DRAFT,
                base_round=base_round,
                feedback=feedback_values(feedback),
                candidate=candidate,
                candidate_chars=len(candidate),
                candidate_cut=call.finish_reason == "length",
            )
            self.round_keys[number] = row.pk
            if feedback is not None and feedback.instructions:
                self.use_instructions(feedback, number)
            kind = EventKind.REVISED if feedback else EventKind.DRAFTED
            self.event(kind, round=number, chars=len(candidate))
        return self.history(after)

    @retry_lost_connection
    def repair(self, call: Call, *, number: int, candidate: str, after: History) -> History:
        """Replaces a round's candidate by its repair, and keeps the one that failed with its validation."""
        with self.step({**usage_values(self.run, call), **STEP_DONE}, after):
            insert(call)
            row = Round.objects.get(run_id=self.lease.row.pk, number=number)
            ValidationResult.objects.filter(round=row, number=1).update(replaced=row.candidate)
            row.candidate, row.candidate_chars = candidate, len(candidate)
            row.candidate_cut = call.finish_reason == "length"
            row.save(update_fields=["candidate", "candidate_chars", "candidate_cut"])
            self.event(EventKind.REPAIRED, round=number, chars=len(candidate))
        return self.history(after)

    def use_instructions(self, feedback: Feedback, number: int) -> None:
        """Marks the instructions as used by this round; LeaseLost if one was withdrawn meanwhile."""
        used = [entry.number for entry in feedback.instructions]
        waiting = Instruction.objects.filter(
            run_id=self.lease.row.pk, pk__in=used, used_in_round__isnull=True, withdrawn_at__isnull=True
        )
        if waiting.update(used_in_round=number) != len(used):
            raise LeaseLost(f"the instructions of run {self.lease.row.pk} have changed")

    @retry_lost_connection
    @transaction.atomic
    def command_output(
        self, result: EvaluatorResult | EvaluatorRepeat | ValidationResult, number: int
    ) -> None:
        """Saves the output of a command of the evaluator for a round, before the judge is called."""
        lease_write(self.lease, wakes=0)  # only the holder of the lease writes
        result.round_id = self.round_key(number)
        insert(result)

    @retry_lost_connection
    def assessment(
        self,
        call: Call | None,
        judged: JudgedRound,
        *,
        slots: Mapping[str, int] | None = None,
        after: History,
    ) -> History:
        """Records a round's assessment and the run's new scores; `call` is None if no judge was called.

        `slots` are those that other calls of the step still need.
        """
        change = {
            **run_score_values(self.run, judged),
            **(usage_values(self.run, call) if call else {}),
            **STEP_DONE,
            "calling": dict(slots or {}),
        }
        with self.step(change, after):
            if call is not None:
                insert(call)
            self.judge_round(judged, call)
            composite = str(round(judged.assessment.composite, 6))
            self.event(EventKind.JUDGED, round=judged.number, composite=composite)
        return self.history(after)

    def judge_round(self, judged: JudgedRound, call: Call | None) -> None:
        """Fills in the round's assessment; raises Round.DoesNotExist if it has one already."""
        key = self.round_key(judged.number)
        if not Round.objects.filter(pk=key, judged_at=None).update(**judged_values(judged, call)):
            raise Round.DoesNotExist(f"round {judged.number} has been judged already")
        Verdict.objects.bulk_create(
            Verdict(round_id=key, position=position, **verdict_values(verdict))
            for position, verdict in enumerate(judged.assessment.verdicts)
        )
        CheckResult.objects.bulk_create(check_rows(key, judged.assessment))

    def round_key(self, number: int) -> int:
        """The primary key of the round. It is known if this recorder has written the round."""
        if number not in self.round_keys:
            rounds = Round.objects.filter(run_id=self.lease.row.pk, number=number)
            self.round_keys[number] = rounds.values_list("pk", flat=True).get()
        return self.round_keys[number]

    @retry_lost_connection
    def failure(self, call: Call | None, *, role: str, message: str, after: History) -> History:
        """Records that the step failed for good; the engine then ends the run in ERROR."""
        message = storable(message)
        change = {
            "failure_role": role,
            "failure_message": message,
            **(usage_values(self.run, call) if call else {}),
            "step_calls": self.run.step_calls + bool(call),
            "step_failures": self.run.step_failures + bool(call),
        }
        with self.step(change, after):
            if call is not None:
                insert(call)
            self.event(EventKind.FAILED, role=role, message=message)
        return self.history(after)

    @retry_lost_connection
    def escalate(self, number: int, *, after: History) -> History:
        """Records that a board takes over after this round."""
        after = replace(after, escalated_after=number)
        with self.step({"escalated_after": number}, after):
            self.event(EventKind.ESCALATED, round=number)
        return self.history(after)

    @retry_lost_connection
    @transaction.atomic
    def ask_plateau(self, number: int) -> None:
        """Pauses the run until a person decides whether it continues, and announces that."""
        lease_release(self.lease, status=RunStatus.PAUSED, plateau_asked=True)
        self.event(EventKind.ASKED, round=number)
        run_asking.send(Run, run=self.run, round=number)

    @transaction.atomic
    def pause(self) -> None:
        """Pauses the run between two rounds, as a person asked for it."""
        lease_release(self.lease, status=RunStatus.PAUSED, pause_after_round=False)
        self.event(EventKind.PAUSED)

    @retry_lost_connection
    @transaction.atomic
    def waiting(self, call: Call, *, until: datetime, reason: str, endpoint: str) -> None:
        """Records a failed call and releases the lease; the run retries the step at `until`."""
        reason = storable(reason)
        lease_release(
            self.lease,
            status=RunStatus.WAITING,
            next_try_at=until,
            waiting_for=reason,
            waiting_endpoint=endpoint,
            woken_at=until,
            **usage_values(self.run, call),
            step_calls=self.run.step_calls + 1,
            step_failures=self.run.step_failures + 1,
        )
        insert(call)
        self.event(EventKind.WAITING, until=until.isoformat(), reason=reason, error=call.error_kind)
        if not self.run.step_failures:  # announced once per step, not for each retry
            run_waiting.send(Run, run=self.run, reason=reason, endpoint=endpoint)
        if self.sends:
            wake(Run, self.lease.row.pk, delay=until - timezone.now())

    @retry_lost_connection
    @transaction.atomic
    def queue_for_slot(self, *, endpoint: str, delay: timedelta) -> datetime:
        """Releases the lease of a run that waits for a slot at the endpoint; returns when it tries again."""
        until = timezone.now() + delay
        lease_release(
            self.lease,
            status=RunStatus.WAITING,
            next_try_at=until,
            waiting_for=waiting_label(endpoint),
            waiting_endpoint=endpoint,
            woken_at=until,
        )
        if self.sends:
            wake(Run, self.lease.row.pk, delay=delay)
        return until

    @retry_lost_connection
    @transaction.atomic
    def wait_after_crash(self, *, delay: timedelta) -> None:
        """Releases the lease of a run whose step has crashed workers; it tries again after `delay`."""
        until = timezone.now() + delay
        reason = f"{WORKER_LOST} {self.run.crashes} times during this step."
        lease_release(
            self.lease, status=RunStatus.WAITING, next_try_at=until, waiting_for=reason, woken_at=until
        )
        self.event(EventKind.WAITING, until=until.isoformat(), reason=reason, error="worker_lost")
        wake(Run, self.lease.row.pk, delay=delay)

    @retry_lost_connection
    @transaction.atomic
    def requeue(self) -> None:
        """Releases the lease and puts the run back in the queue."""
        lease_release(self.lease, woken_at=timezone.now())
        wake(Run, self.lease.row.pk)

    @retry_lost_connection
    def finish(self, finish: Finish) -> None:
        """Ends the run, unless its last step has ended it already."""
        if self.run.is_finished:
            return
        ended, values = copy.copy(self.run), finish_values(finish)
        assign(ended, values)
        with transaction.atomic():
            lease_write(self.lease, **values)
            self.announce_end(ended, finish)
        self.lease.row = ended

    @contextmanager
    def step(self, change: dict[str, Any], after: History) -> Iterator[None]:
        """One transaction: the run's row with a renewed lease, the block's writes, and the run's end if due.

        It raises the attempt, so that retrying it after a commit with a lost answer changes nothing.
        """
        run = copy.copy(self.run)
        renewal = {"attempt": self.lease.attempt + 1, "lease_until": timezone.now() + LEASE}
        fields = {"calling": {}, **change, **renewal, "wakes": 0}
        assign(run, fields)
        finish = self.finish_after(run, after)
        if finish is not None:
            fields |= finish_values(finish)
            assign(run, fields)
        with transaction.atomic():
            lease_write(self.lease, **fields)
            yield
            if finish is not None:
                self.announce_end(run, finish)
        self.lease.row, self.lease.attempt = run, run.attempt

    def finish_after(self, run: Run, after: History) -> Finish | None:
        """The run's end, if the engine says that it is over."""
        if self.rubric is None:
            return None
        try:
            step = next_step(self.rubric, replace(after, **account_of(run)))
        except Exception:
            # The result is saved anyway; the loop will raise the same error when it decides the next step.
            log.exception("run=%s: cannot decide the next step", run.pk)
            return None
        return step if isinstance(step, Finish) else None

    def announce_end(self, run: Run, finish: Finish) -> None:
        """Records the event of the run's end and announces it, in the caller's transaction."""
        self.event(EventKind.STOPPED, outcome=finish.outcome, reason=finish.reason, why=finish.why)
        LiveText.objects.filter(run_id=run.pk).delete()
        run_ended.send(Run, run=run, outcome=finish.outcome)

    def history(self, after: History) -> History:
        """The history after a step, with the run's usage totals."""
        return replace(after, **account_of(self.run))

    def event(self, kind: str, **data: object) -> None:
        event_record(self.lease.row.pk, kind, actor=self.actor, data=data)


def finish_values(finish: Finish) -> dict[str, Any]:
    """The fields of a run that has ended. Its lease is released."""
    return released(
        status=RunStatus.FINISHED,
        outcome=finish.outcome,
        stop_reason=finish.reason,
        why=finish.why,
        best_round=finish.best_round,
        passed_in_round=finish.passed_in_round,
        finished_at=timezone.now(),
    )


def insert(row: Model) -> None:
    """Inserts a row. Its key is cleared first: a try that was rolled back may have set one."""
    row.pk = None
    row.save(force_insert=True)


def assign(run: Run, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(run, name, value)
