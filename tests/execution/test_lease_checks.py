"""One query finds all lost leases of a process."""

from contextlib import ExitStack

import pytest
from django.db import DatabaseError, OperationalError, connection
from django.test.utils import CaptureQueriesContext

from refinement.broker.interrupting import interrupt_all, worker_starts
from refinement.engine.profiles import rubric_for
from refinement.execution import cancelling
from refinement.execution.calls import control_of
from refinement.execution.cancelling import LeaseChecks, lost_keys
from refinement.execution.leases import Lease, lease_renew, lease_take
from refinement.models import Run, RunStatus
from refinement.providers.registry import Target
from refinement.services.rubrics.editing import rubric_create
from refinement.services.runs.creating import run_create


@pytest.fixture
def leases(project) -> list[Lease[Run]]:
    version = rubric_create(project=project, slug="ralph", definition=rubric_for("ralph"))
    target = Target("ollama", "writer:1b")
    runs = [
        run_create(project=project, version=version, task=f"Explain {n}.", producer=target, judge=target)
        for n in range(5)
    ]
    return [lease_take(Run, run.pk, f"thread {run.pk}") for run in runs]


@pytest.fixture
def checks() -> LeaseChecks:
    return LeaseChecks()


@pytest.fixture
def always(monkeypatch) -> None:
    """Every question leads to a query."""
    monkeypatch.setattr(cancelling, "CHECK_EVERY", 0)


def test_many_questions_are_one_query(leases, checks):
    with ExitStack() as stack:
        questions = [stack.enter_context(checks.using(lease)) for lease in leases]
        with CaptureQueriesContext(connection) as queries:
            assert [ask() for _ in range(20) for ask in questions] == [True] * 100
    assert len(queries) == 1


def test_each_lost_run_is_told_to_its_own_holder(leases, checks, always):
    paused, taken, gone, *kept = leases
    Run.objects.filter(pk=paused.row.pk).update(status=RunStatus.PAUSED)
    Run.objects.filter(pk=taken.row.pk).update(lease_owner="another", attempt=taken.attempt + 1)
    Run.objects.filter(pk=gone.row.pk).delete()
    with ExitStack() as stack:
        questions = {lease: stack.enter_context(checks.using(lease)) for lease in leases}
        assert {lease for lease, ask in questions.items() if not ask()} == {paused, taken, gone}
    assert len(kept) == 2


def test_a_step_that_is_recorded_does_not_end_the_other_calls_of_its_holder(leases, checks, always):
    Run.objects.filter(pk=leases[0].row.pk).update(attempt=leases[0].attempt + 1)
    with checks.using(leases[0]) as is_held:
        assert is_held()


def test_a_query_that_fails_is_made_again(leases, checks, always, monkeypatch):
    errors = [DatabaseError("away")]

    def away_once(model, leases):
        if errors:
            raise errors.pop()
        return lost_keys(model, leases)

    monkeypatch.setattr(cancelling, "lost_keys", away_once)
    with checks.using(leases[0]) as is_held:
        with pytest.raises(DatabaseError):
            is_held()
        assert is_held()
        Run.objects.filter(pk=leases[0].row.pk).update(status=RunStatus.PAUSED)
        assert not is_held()


def test_nobody_waits_for_another_query(leases, checks, always, monkeypatch):
    queries = []

    def ask_again(model, leases):
        queries.append(model)
        assert is_held()  # as another thread would, while the query is under way
        return lost_keys(model, leases)

    monkeypatch.setattr(cancelling, "lost_keys", ask_again)
    with checks.using(leases[0]) as is_held:
        assert is_held()
    assert queries == [Run]


def test_a_step_recorded_during_a_check_does_not_end_the_next_call(leases, checks, always, monkeypatch):
    lease, records = leases[0], [True]

    def recorded_meanwhile(model, keys):
        if records and records.pop():
            Run.objects.filter(pk=lease.row.pk).update(attempt=lease.attempt + 1)
            lost = lost_keys(model, keys)
            lease.attempt += 1  # the recorder's thread goes on a moment later
            return lost
        return lost_keys(model, keys)

    monkeypatch.setattr(cancelling, "lost_keys", recorded_meanwhile)
    with checks.using(lease) as is_held:
        assert is_held()
    monkeypatch.setattr(cancelling, "CHECK_EVERY", 600)  # the next call goes by the same check
    with checks.using(lease) as is_held:
        assert is_held()


def test_a_call_is_cancelled_when_its_lease_is_lost(leases, checks, always):
    with checks.using(leases[0]) as is_held:
        control = control_of(600, is_held, lambda: lease_renew(leases[0]))
        assert not control.is_cancelled()
        Run.objects.filter(pk=leases[0].row.pk).update(status=RunStatus.PAUSED)
        assert control.is_cancelled()


def test_a_call_is_cancelled_when_the_worker_stops():
    control = control_of(600, lambda: True, lambda: True)
    interrupt_all(lambda thread_id: None)
    try:
        assert control.is_cancelled()
    finally:
        worker_starts()
    assert not control.is_cancelled()


def test_a_database_that_is_away_cancels_no_call():
    def away() -> bool:
        raise OperationalError("away")

    assert not control_of(600, away, lambda: True).is_cancelled()


def test_asking_renews_the_lease_along_the_way(monkeypatch):
    monkeypatch.setattr("refinement.execution.calls.RENEW_SECONDS", 0)
    renewals = iter([True, False])
    control = control_of(600, lambda: True, lambda: next(renewals))
    assert [control.is_cancelled() for _ in range(3)] == [False, True, True]
