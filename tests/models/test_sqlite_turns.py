"""Writers of one process wait for each other in turn, and nobody waits forever."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.utils import OperationalError
from dramatiq.middleware import Shutdown

from refinement.models import MetricTotal, Project, RunTag
from wiggum_site.sqlite import base

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def only_on_sqlite():
    if connection.vendor != "sqlite":
        pytest.skip("turns are SQLite's alone")


def in_threads(count, work):
    """Runs the work in so many threads at once; raises what one of them raised."""

    def closing(number):
        try:
            work(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(closing, number) for number in range(count)]:
            done.result(60)


def has_turn():
    return repr(base.write_lock_for(str(connection.settings_dict["NAME"]))).startswith("<locked")


def test_many_writers_at_once_lose_nothing():
    row = MetricTotal.objects.create(name="steps", value=0)

    def count_up(_):
        for _ in range(10):
            with transaction.atomic():
                total = MetricTotal.objects.get(pk=row.pk).value
                MetricTotal.objects.filter(pk=row.pk).update(value=total + 1)

    in_threads(12, count_up)
    assert MetricTotal.objects.get(pk=row.pk).value == 120
    assert not has_turn()


def test_a_write_of_one_statement_waits_for_the_transaction_before_it(monkeypatch):
    order = []
    began, asked = threading.Event(), threading.Event()
    acquire_write_lock = base.DatabaseWrapper.acquire_write_lock

    def noting(wrapper):
        if began.is_set():
            asked.set()
        acquire_write_lock(wrapper)

    monkeypatch.setattr(base.DatabaseWrapper, "acquire_write_lock", noting)

    def work(number):
        if number == 0:
            with transaction.atomic():
                Project.objects.create(name="One", slug="one")
                began.set()
                assert asked.wait(60)
                order.append("transaction")
        else:
            began.wait(60)
            Project.objects.create(name="Two", slug="two")
            order.append("statement")

    in_threads(2, work)
    assert order == ["transaction", "statement"]


def test_the_turn_is_given_back_whatever_becomes_of_the_transaction():
    def half_way():
        with transaction.atomic():
            assert has_turn()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half_way()
    assert not has_turn()
    # A row that points nowhere fails the commit itself.
    with pytest.raises(IntegrityError), transaction.atomic():
        RunTag.objects.create(run_id=999_999, project_id=999_999, name="lost")
    assert not has_turn()
    with pytest.raises(OperationalError), connection.cursor() as cursor:
        cursor.execute("UPDATE no_such_table SET a = 1")
    assert not has_turn()
    Project.objects.create(name="After", slug="after")


def test_a_connection_that_is_closed_half_way_gives_its_turn_back():
    def leave(_):
        with transaction.atomic():
            Project.objects.create(name="Left", slug="left")
            connection.close()

    in_threads(1, leave)  # Django rolls back what can no longer be committed, without a word
    assert not has_turn()
    assert not Project.objects.filter(slug="left").exists()


def test_reading_waits_for_nobody():
    seen = []

    def look(_):
        seen.append(Project.objects.filter(slug="unseen").exists())

    with transaction.atomic():
        Project.objects.create(name="Unseen", slug="unseen")
        in_threads(1, look)
    assert seen == [False]


def test_a_turn_that_does_not_come_is_not_waited_for(monkeypatch):
    """Where somebody keeps the turn, SQLite's own lock decides: here nobody has it."""
    monkeypatch.setattr(base, "PATIENCE_SECONDS", 0.05)
    turn = base.write_lock_for(str(connection.settings_dict["NAME"]))
    held, end = threading.Event(), threading.Event()

    def hold():
        with turn:
            held.set()
            end.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(60)
    try:
        Project.objects.create(name="Impatient", slug="impatient")
        with transaction.atomic():
            Project.objects.filter(slug="impatient").update(name="Very impatient")
    finally:
        end.set()
        holder.join(60)
    assert Project.objects.get(slug="impatient").name == "Very impatient"


def test_an_interrupt_at_the_very_moment_leaves_no_turn_taken(monkeypatch):
    class Interrupted(BaseException):
        pass

    class Turn:
        def __init__(self):
            self.lock = threading.RLock()
            self.release, self._is_owned = self.lock.release, self.lock._is_owned

        def acquire(self, timeout):
            self.lock.acquire()
            raise Interrupted

    turn = Turn()
    monkeypatch.setattr(base, "write_lock_for", lambda _: turn)
    with pytest.raises(Interrupted):
        Project.objects.create(name="Late", slug="late")
    assert not turn._is_owned()


def test_a_turn_given_back_by_another_thread_is_nobodys_any_more():
    def lend(_):
        connection.acquire_write_lock()
        borrowed.append(connection.release_write_lock)

    borrowed = []
    before = base.write_lock_for(str(connection.settings_dict["NAME"]))
    thread = threading.Thread(target=lend, args=[0])
    thread.start()
    thread.join(60)
    borrowed[0]()
    assert base.write_lock_for(str(connection.settings_dict["NAME"])) is not before
    Project.objects.create(name="Free", slug="free")


def test_an_interrupt_just_after_begin_leaves_no_transaction_open():
    def interrupted(execute, *arguments):
        execute(*arguments)
        raise Shutdown

    with connection.execute_wrapper(interrupted), pytest.raises(Shutdown), transaction.atomic():
        pass
    assert not connection.connection.in_transaction
    assert not has_turn()
