"""One query tells for all of a process's runs which leases are lost."""

from contextlib import ExitStack

import pytest
from django.db import DatabaseError, OperationalError, connection
from django.test.utils import CaptureQueriesContext

from refinement.broker.interrupting import interrupt_all, worker_starts
from refinement.engine.profiles import rubric_for
from refinement.models import Run, RunStatus
from refinement.providers.registry import Target
from refinement.services import leases as leases_module
from refinement.services.calling import control_of
from refinement.services.leases import Lease, LeaseChecks, lease_renew, lease_take, runs_held
from refinement.services.rubrics import rubric_create
from refinement.services.runs import run_create


@pytest.fixture
def leases(project) -> list[Lease]:
    version = rubric_create(project=project, slug="ralph", definition=rubric_for("ralph"))
    target = Target("ollama", "writer:1b")
    runs = [
        run_create(project=project, version=version, task=f"Explain {n}.", producer=target, judge=target)
        for n in range(5)
    ]
    return [lease_take(run.pk, f"thread {run.pk}") for run in runs]


@pytest.fixture
def checks() -> LeaseChecks[Lease]:
    return LeaseChecks(runs_held)


@pytest.fixture
def always(monkeypatch) -> None:
    """Every question leads to a query."""
    monkeypatch.setattr(leases_module, "CHECK_EVERY", 0)


def test_many_questions_are_one_query(leases, checks):
    with ExitStack() as stack:
        questions = [stack.enter_context(checks.using(lease)) for lease in leases]
        with CaptureQueriesContext(connection) as queries:
            assert [ask() for _ in range(20) for ask in questions] == [True] * 100
    assert len(queries) == 1


def test_each_lost_run_is_told_to_its_own_holder(leases, checks, always):
    paused, taken, gone, *kept = leases
    Run.objects.filter(pk=paused.run_id).update(status=RunStatus.PAUSED)
    Run.objects.filter(pk=taken.run_id).update(attempt=taken.attempt + 1)
    Run.objects.filter(pk=gone.run_id).delete()
    with ExitStack() as stack:
        questions = {lease: stack.enter_context(checks.using(lease)) for lease in leases}
        assert {lease for lease, ask in questions.items() if not ask()} == {paused, taken, gone}
    assert len(kept) == 2


def test_a_query_that_fails_is_made_again(leases, always):
    answers = [DatabaseError("away")]

    def away_once(run_ids):
        if answers:
            raise answers.pop()
        return runs_held(run_ids)

    with LeaseChecks(away_once).using(leases[0]) as is_held:
        with pytest.raises(DatabaseError):
            is_held()
        assert is_held()
        Run.objects.filter(pk=leases[0].run_id).update(status=RunStatus.PAUSED)
        assert not is_held()


def test_nobody_waits_for_another_query(leases, always):
    asked = []

    def ask_again(run_ids):
        asked.append(run_ids)
        assert is_held()  # as another thread would, while the query is under way
        return runs_held(run_ids)

    with LeaseChecks(ask_again).using(leases[0]) as is_held:
        assert is_held()
    assert len(asked) == 1


def test_a_call_is_cancelled_when_its_lease_is_lost(leases, checks, always):
    with checks.using(leases[0]) as is_held:
        control = control_of(600, is_held, lambda: lease_renew(leases[0]))
        assert not control.is_cancelled()
        Run.objects.filter(pk=leases[0].run_id).update(status=RunStatus.PAUSED)
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
    monkeypatch.setattr("refinement.services.calling.RENEW_SECONDS", 0)
    renewals = iter([True, False])
    control = control_of(600, lambda: True, lambda: next(renewals))
    assert [control.is_cancelled() for _ in range(3)] == [False, True, True]
