"""Leases: one holder at a time, and a holder that lost its lease writes nothing."""

import os
import socket
from datetime import timedelta

import pytest
from django.utils import timezone

from refinement.engine.profiles import rubric_for
from refinement.execution.cancelling import LeaseChecks
from refinement.execution.foreground import (
    RunBusy,
    foreground_owner,
    foreground_resume,
    leave_paused,
    owner_is_gone,
    run_in_foreground,
)
from refinement.execution.leases import (
    LEASE,
    LeaseLost,
    lease_release,
    lease_renew,
    lease_take,
    lease_write,
)
from refinement.execution.steps.step import StepOptions
from refinement.models import Run, RunStatus
from refinement.providers.registry import Target
from refinement.services.rubrics.editing import rubric_create
from refinement.services.runs.creating import run_create

GONE = 2**22 + 1  # beyond the largest process number that Linux gives out


@pytest.fixture
def run(project) -> Run:
    version = rubric_create(project=project, slug="ralph", definition=rubric_for("ralph"))
    target = Target("ollama", "writer:1b")
    return run_create(
        project=project, version=version, task="Explain.", producer=target, judge=target, status="running"
    )


def lease_holds(lease) -> bool:
    with LeaseChecks().using(lease) as is_held:
        return is_held()


def past() -> object:
    return timezone.now() - timedelta(seconds=1)


def change(run: Run, **fields: object) -> None:
    Run.objects.filter(pk=run.pk).update(**fields)
    run.refresh_from_db()


def test_a_run_has_one_holder(run):
    lease = lease_take(Run, run.pk, "first")
    assert lease_take(Run, run.pk, "second") is None
    assert lease_holds(lease)
    run.refresh_from_db()
    assert (run.lease_owner, run.attempt, run.status) == ("first", 1, "running")
    assert run.started_at


@pytest.mark.parametrize("status", [RunStatus.PAUSED, RunStatus.WAITING])
def test_what_is_not_due_is_not_taken(run, status):
    change(run, status=status, next_try_at=timezone.now() + timedelta(seconds=60))
    assert lease_take(Run, run.pk, "first") is None


def test_a_finished_run_is_not_taken(run):
    change(run, status="finished", outcome="DONE", stop_reason="max_rounds", finished_at=timezone.now())
    assert lease_take(Run, run.pk, "first") is None


def test_an_expired_lease_is_taken_over_and_the_earlier_holder_is_fenced_off(run):
    old = lease_take(Run, run.pk, "first")
    change(run, lease_until=past())
    new = lease_take(Run, run.pk, "second")
    assert (new.attempt, new.owner) == (old.attempt + 1, "second")
    assert not lease_holds(old)
    assert not lease_renew(old)
    with pytest.raises(LeaseLost, match=f"Run {run.pk} is no longer held by first"):
        lease_write(old, failure_message="late")
    run.refresh_from_db()
    assert run.failure_message == ""
    lease_write(new, failure_message="in time")
    run.refresh_from_db()
    assert run.failure_message == "in time"


def test_an_earlier_lease_of_the_same_owner_cannot_write(run):
    old = lease_take(Run, run.pk, "same name")
    change(run, lease_until=past())
    new = lease_take(Run, run.pk, "same name")
    with pytest.raises(LeaseLost):
        lease_write(old, failure_message="late")
    lease_write(new, failure_message="in time")


def test_a_paused_run_is_no_longer_held(run):
    lease = lease_take(Run, run.pk, "first")
    change(run, status=RunStatus.PAUSED)
    assert not lease_holds(lease)
    assert not lease_renew(lease)


def test_renewing_extends_and_releasing_lets_go(run):
    lease = lease_take(Run, run.pk, "first")
    before = timezone.now()
    change(run, lease_until=before + LEASE / 2)
    assert lease_renew(lease)
    run.refresh_from_db()
    assert run.lease_until > before + LEASE
    lease_release(lease)
    run.refresh_from_db()
    assert (run.lease_owner, run.lease_until) == ("", None)
    assert lease_take(Run, run.pk, "second") is not None


# --- in the foreground ------------------------------------------------------------------------
def test_letting_go_pauses_a_held_run_and_a_waiting_one(run):
    leave_paused(lease_take(Run, run.pk, "first"))
    run.refresh_from_db()
    assert (run.status, run.lease_owner) == ("paused", "")
    change(run, status="running")
    lease = lease_take(Run, run.pk, "first")
    change(run, status="waiting", next_try_at=timezone.now(), waiting_for="a server", lease_owner="")
    leave_paused(lease)
    run.refresh_from_db()
    assert (run.status, run.next_try_at, run.waiting_for) == ("paused", None, "")


def test_a_run_held_elsewhere_is_not_resumed(run):
    lease_take(Run, run.pk, "worker:elsewhere:1")
    with pytest.raises(RunBusy, match="is being worked on by worker:elsewhere:1"):
        foreground_resume(run.pk)
    with pytest.raises(RunBusy, match="being worked on elsewhere"):
        run_in_foreground(run.pk, StepOptions(), lambda result: None)


def test_a_run_whose_process_is_gone_is_resumed_at_once(run):
    lease_take(Run, run.pk, f"foreground:{socket.gethostname()}:{GONE}:abcd")
    resumed = foreground_resume(run.pk)
    assert (resumed.status, resumed.lease_owner) == ("running", "")
    assert lease_take(Run, run.pk, "next") is not None


@pytest.mark.parametrize(
    ("owner", "gone"),
    [
        (f"foreground:{socket.gethostname()}:{GONE}:abcd", True),
        (f"foreground:{socket.gethostname()}:{os.getpid()}:abcd", False),
        (f"foreground:{socket.gethostname()}:1:abcd", False),  # somebody else's, but alive
        (f"foreground:elsewhere:{GONE}:abcd", False),
        (f"foreground:{socket.gethostname()}:many:abcd", True),
        (f"worker:{socket.gethostname()}:{GONE}:abcd", False),
        ("", False),
    ],
    ids=["gone", "this process", "another, alive", "elsewhere", "no number", "a worker", "nobody"],
)
def test_whether_an_owner_is_gone(owner, gone):
    assert owner_is_gone(owner) is gone


def test_an_owner_in_the_foreground_is_this_process():
    assert foreground_owner() != foreground_owner()
    assert not owner_is_gone(foreground_owner())
