"""Saving a reply survives a short database outage, and never happens twice."""

import pytest
from django.db import InterfaceError, OperationalError, connection, transaction

from refinement.execution import lost_connections
from refinement.execution.lost_connections import retry_lost_connection


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves only while somebody sleeps; what it says is how long they slept."""
    slept = [0.0]
    monkeypatch.setattr(lost_connections.time, "monotonic", lambda: slept[0])
    monkeypatch.setattr(lost_connections.time, "sleep", lambda seconds: slept.append(slept.pop() + seconds))
    return slept


def failing(times, error):
    """A write that fails so often, and how often it was tried."""
    tried = []

    @retry_lost_connection
    def write(*, what):
        tried.append(what)
        if len(tried) <= times:
            raise error
        return f"{what} written"

    return write, tried


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("error", [OperationalError("server closed"), InterfaceError("closed")])
def test_it_is_done_again_on_a_new_connection(clock, monkeypatch, error):
    closed = []
    monkeypatch.setattr(connection, "close", lambda: closed.append(True))
    write, tried = failing(3, error)
    assert write(what="reply") == "reply written"
    assert (len(tried), len(closed)) == (4, 3)


@pytest.mark.django_db(transaction=True)
def test_it_gives_up_when_the_lease_may_be_another_s(clock):
    write, tried = failing(1_000, OperationalError("away"))
    with pytest.raises(OperationalError, match="away"):
        write(what="reply")
    assert len(tried) > 10
    assert lost_connections.RETRY_FOR_SECONDS - 1 <= clock[0] <= lost_connections.RETRY_FOR_SECONDS


@pytest.mark.django_db(transaction=True)
def test_within_a_transaction_it_is_not_done_again(clock):
    write, tried = failing(1, OperationalError("away"))
    with pytest.raises(OperationalError), transaction.atomic():
        write(what="reply")
    assert (tried, clock) == (["reply"], [0.0])


def test_another_error_is_nobody_s_connection(clock):
    write, tried = failing(1, ValueError("a mistake of ours"))
    with pytest.raises(ValueError, match="ours"):
        write(what="reply")
    assert (tried, clock) == (["reply"], [0.0])
