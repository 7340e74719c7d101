"""Records a trial's calls and results: one transaction each, fenced by the lease (raises LeaseLost)."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from refinement.engine.safeguards import penalties_for
from refinement.engine.scoring import assess
from refinement.engine.types import CheckResult
from refinement.execution.leases import Lease, lease_release
from refinement.execution.lost_connections import retry_lost_connection
from refinement.execution.slots import waiting_label
from refinement.execution.steps.record_values import penalty_values, verdict_values
from refinement.execution.trials.judging import TrialReply, trial_heartbeat
from refinement.execution.trust.waking import measurement_follow
from refinement.execution.waking import wake
from refinement.judging.checks import run_checks
from refinement.models import Bench, BenchCall, BenchStatus, BenchTrial, TrialStatus
from refinement.models.leased import WorkStatus
from refinement.selectors.runs.live.steps import WORKER_LOST
from refinement.texts import storable


def trial_done(lease: Lease[BenchTrial], reply: TrialReply) -> None:
    """Ends the trial with a verdict; checks and penalties complete its composite, as in a run."""
    rubric, candidate = reply.rubric, lease.row.bench.candidate
    with trial_heartbeat(lease):
        checks = run_checks(rubric.checks, candidate)
    assessment = assess(
        rubric,
        reply.verdict,
        checks,
        penalties_for(rubric, candidate),
        reply.evidence.output,
        reply.evidence.violation,
    )
    verdict = verdict_values(assessment.verdicts[0])
    trial_end(
        lease,
        reply.call,
        status=TrialStatus.DONE,
        composite=round(assessment.composite, 6),
        scores={key: str(score) for key, score in assessment.scores.items()},
        said=[storable_values(entry) for entry in verdict["scores"]],
        issues=[storable(issue) for issue in verdict["issues"]],
        asi=storable(verdict["asi"]),
        penalties=[penalty_values(penalty) for penalty in assessment.penalties],
        checks=[check_values(result) for result in assessment.checks],
        seen_chars=reply.seen_chars,
        parse_rung=reply.call.rung,
    )


def trial_fail(lease: Lease[BenchTrial], call: BenchCall | None, *, message: str, **counts: int) -> None:
    """Ends the trial as failed, with a message and without a score."""
    trial_end(lease, call, status=TrialStatus.FAILED, error=storable(message), **counts)


@retry_lost_connection
@transaction.atomic
def trial_end(lease: Lease[BenchTrial], call: BenchCall | None, **fields: Any) -> None:
    """Ends the trial, and its bench if it was the last one."""
    # The bench's row is the lock: of two trials that end at the same time, the second sees the first.
    Bench.objects.select_for_update().only("pk").get(pk=lease.row.bench_id)
    usage = usage_values(lease.row, call) if call else {}
    lease_release(lease, finished_at=timezone.now(), **usage, **fields)
    if call is not None:
        call.save()
    if not BenchTrial.objects.filter(bench_id=lease.row.bench_id, status__in=WorkStatus.values).exists():
        Bench.objects.filter(pk=lease.row.bench_id, status=BenchStatus.RUNNING).update(
            status=BenchStatus.FINISHED, finished_at=timezone.now()
        )
        measurement_follow(lease.row.bench_id)


@retry_lost_connection
@transaction.atomic
def trial_ask_again(lease: Lease[BenchTrial], call: BenchCall) -> None:
    """Records an unreadable reply; the next message asks the judge again."""
    lease_release(
        lease,
        status=TrialStatus.QUEUED,
        woken_at=timezone.now(),
        unreadable=lease.row.unreadable + 1,
        failures=0,
        **usage_values(lease.row, call),
    )
    call.save()
    wake(BenchTrial, lease.row.pk)


@retry_lost_connection
@transaction.atomic
def trial_wait(lease: Lease[BenchTrial], call: BenchCall, *, until: datetime, reason: str) -> None:
    """Records a failed call; the trial tries again at `until`."""
    lease_release(
        lease,
        status=TrialStatus.WAITING,
        next_try_at=until,
        waiting_for=storable(reason),
        woken_at=until,
        failures=lease.row.failures + 1,
        **usage_values(lease.row, call),
    )
    call.save()
    wake(BenchTrial, lease.row.pk, delay=until - timezone.now())


@retry_lost_connection
@transaction.atomic
def trial_wait_after_crash(lease: Lease[BenchTrial], *, delay: timedelta) -> None:
    """Releases the lease of a trial that has crashed workers; it tries again after `delay`."""
    until = timezone.now() + delay
    reason = f"{WORKER_LOST} {lease.row.crashes} times."
    lease_release(lease, status=TrialStatus.WAITING, next_try_at=until, waiting_for=reason, woken_at=until)
    wake(BenchTrial, lease.row.pk, delay=delay)


@retry_lost_connection
@transaction.atomic
def trial_queue_for_slot(lease: Lease[BenchTrial], *, endpoint: str, delay: timedelta) -> None:
    """Releases the lease of a trial that waits for a slot at the endpoint; it tries again after `delay`."""
    until = timezone.now() + delay
    lease_release(
        lease,
        status=TrialStatus.WAITING,
        next_try_at=until,
        waiting_for=waiting_label(endpoint),
        waiting_endpoint=endpoint,
        woken_at=until,
    )
    wake(BenchTrial, lease.row.pk, delay=delay)


def usage_values(trial: BenchTrial, call: BenchCall) -> dict[str, Any]:
    """The trial's usage totals with this call added, for the holder of its lease to write."""
    return {
        "calls_made": trial.calls_made + 1,
        "prompt_tokens": trial.prompt_tokens + call.prompt_tokens,
        "completion_tokens": trial.completion_tokens + call.completion_tokens,
        "seconds": trial.seconds + call.seconds,
    }


def check_values(result: CheckResult) -> dict[str, Any]:
    return {
        "key": result.key,
        "passed": result.passed,
        "message": storable(result.message),
        "severity": result.severity.value,
    }


def storable_values(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: storable(value) for key, value in entry.items()}
