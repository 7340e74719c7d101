"""One look serves all runs of a process: it finds each that was lost, and asks the database seldom."""

import threading
from contextlib import ExitStack

import pytest
from django.db import DatabaseError, OperationalError, connection
from django.test.utils import CaptureQueriesContext

from benchmarks.instance import wait_for
from refinement.engine.profiles import rubric_for
from refinement.models import Run, RunStatus
from refinement.providers.registry import Target
from refinement.services import lookout as lookout_module
from refinement.services.leases import Lease, lease_take
from refinement.services.lookout import Lookout
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
def always(monkeypatch) -> None:
    """Every question leads to a look."""
    monkeypatch.setattr(lookout_module, "LOOK_EVERY", 0)


def test_many_questions_are_one_look(leases):
    lookout = Lookout()
    with ExitStack() as stack:
        questions = [stack.enter_context(lookout.watching(lease)) for lease in leases]
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert [ask() for _ in range(20) for ask in questions] == [True] * 100
    assert len(queries) == 1


def test_each_lost_run_is_told_to_its_own_holder(leases, always):
    paused, taken, gone, *kept = leases
    Run.objects.filter(pk=paused.run_id).update(status=RunStatus.PAUSED)
    Run.objects.filter(pk=taken.run_id).update(attempt=taken.attempt + 1)
    Run.objects.filter(pk=gone.run_id).delete()
    lookout = Lookout()
    with ExitStack() as stack:
        questions = {lease: stack.enter_context(lookout.watching(lease)) for lease in leases}
        assert {lease for lease, ask in questions.items() if not ask()} == {paused, taken, gone}
    assert len(kept) == 2


def test_a_look_that_fails_is_taken_again(leases, always, monkeypatch):
    lookout = Lookout()
    with lookout.watching(leases[0]) as holds:
        with monkeypatch.context() as broken:

            def fail(*_: object) -> None:
                raise DatabaseError("away")

            broken.setattr(lookout_module, "leases_held", fail)
            with pytest.raises(DatabaseError):
                holds()
        assert holds()
        Run.objects.filter(pk=leases[0].run_id).update(status=RunStatus.PAUSED)
        assert not holds()


def test_who_attends_rings_for_a_lost_run_and_no_other(leases, transactional_db):
    lookout = Lookout()
    assert lookout.alarm() is None  # nobody would ring it
    with lookout.attended(), ExitStack() as stack:
        alarms = [lookout.alarm() for _ in leases]
        for lease, alarm in zip(leases, alarms, strict=True):
            stack.enter_context(lookout.watching(lease, alarm))
        assert not alarms[0].rung
        Run.objects.filter(pk=leases[0].run_id).update(status=RunStatus.PAUSED)
        wait_for(lambda: alarms[0].rung, 60)
        assert [alarm.rung for alarm in alarms] == [True, False, False, False, False]
    assert lookout.alarm() is None
    wait_for(lambda: "lookout" not in {thread.name for thread in threading.enumerate()}, 60)


def test_who_attends_asks_nothing_while_nobody_is_at_work(leases, monkeypatch):
    monkeypatch.setattr(lookout_module, "LOOK_EVERY", 0.01)
    looks = []
    monkeypatch.setattr(Lookout, "_look", lambda self: looks.append(len(self._watched)))
    lookout = Lookout()
    lookout._wanted = rest = Rest()
    with lookout.attended():
        with lookout.watching(leases[0], lookout.alarm()):
            wait_for(lambda: looks, 60)
            rest.begun.clear()
        assert rest.begun.wait(60)
        looks.clear()
        with lookout.watching(leases[1], lookout.alarm()):
            wait_for(lambda: looks, 60)
    assert set(rest.timeouts) == {None}  # only somebody who begins to work ends it


class Rest(threading.Event):
    """Notes that somebody waits for it, and for how long."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.timeouts = threading.Event(), []

    def wait(self, timeout: float | None = None) -> bool:
        self.timeouts.append(timeout)
        self.begun.set()
        return super().wait(timeout)


def test_who_attends_looks_again_when_the_database_was_away(leases, transactional_db, monkeypatch):
    monkeypatch.setattr(lookout_module, "LOOK_EVERY", 0.01)
    tries = []

    def away_twice(*args):
        tries.append(args)
        if len(tries) < 3:
            raise OperationalError("away")
        return set()

    monkeypatch.setattr(lookout_module, "leases_held", away_twice)
    lookout = Lookout()
    with lookout.attended():
        alarm = lookout.alarm()
        with lookout.watching(leases[0], alarm):
            wait_for(lambda: alarm.rung, 60)


def test_where_who_attends_hangs_those_who_wait_look_themselves(leases, monkeypatch):
    lookout = Lookout()
    monkeypatch.setattr(Lookout, "_attend", lambda self, stopping: stopping.wait(60))
    with lookout.attended(), lookout.watching(leases[0], lookout.alarm()) as holds:
        assert holds()
        Run.objects.filter(pk=leases[0].run_id).update(status=RunStatus.PAUSED)
        assert holds()  # somebody has looked just now
        monkeypatch.setattr(lookout_module, "OVERDUE_SECONDS", 0)
        assert not holds()


def test_nobody_waits_for_another_look(leases, always):
    lookout = Lookout()
    with lookout.watching(leases[0]) as holds:
        assert lookout._looking.acquire(blocking=False)  # somebody's look hangs
        with CaptureQueriesContext(connection) as queries:
            assert holds()
        assert not queries
