"""Writes that belong together are all made or none: one statement on PostgreSQL, one by one elsewhere."""

import pytest
from django.db import DataError, IntegrityError, connection

from refinement.models import Event, Round, Run, Verdict
from refinement.models.writes import Found, NothingChanged, Writes
from refinement.services.events import event_record, event_values
from tests.models.given import a_run

pytestmark = pytest.mark.django_db(transaction=True)  # a write of its own, outside of any transaction

ANY_EVENT = 'SELECT 1 FROM "refinement_event" WHERE "run_id" = %s AND "kind" = %s'
ROUND = 'SELECT "id" FROM "refinement_round" WHERE "run_id" = %s AND "number" = %s'


@pytest.fixture
def run(project) -> Run:
    return a_run(project, seed="The seed.")


def told(run: Run) -> list[str]:
    return list(run.events.order_by("pk").values_list("kind", flat=True))


def judged(run: Run, number: int, why: str) -> Writes:
    """The run's row, a verdict for a round that the database finds, the round itself, and an event."""
    writes = Writes()
    writes.lead(
        Run, {"why": why, "calls_made": 70_000}, '"id" = %s AND "attempt" = %s', [run.pk, run.attempt]
    )
    writes.update(Round, {"seen_chars": 7, "signals": [{"ü": "ä"}]}, '"run_id" = %s AND "number" = %s',
                  [run.pk, number])  # fmt: skip
    writes.insert(
        Verdict(position=0, judge="ünï", scores=[], issues=["100 % of '%s'"], asi="Say more."),
        round_id=Found(ROUND, [run.pk, number]),
    )
    writes.add(Event, event_values(run.pk, "judged", actor="worker", data={"round": number}))
    return writes


def test_all_of_them_are_made(run: Run):
    before = told(run)
    assert judged(run, 1, "why").make()
    run.refresh_from_db()
    assert (run.why, run.calls_made, told(run)) == ("why", 70_000, [*before, "judged"])
    (verdict,) = Verdict.objects.all()
    assert (verdict.round.number, verdict.judge, verdict.issues) == (1, "ünï", ["100 % of '%s'"])
    assert (verdict.round.seen_chars, verdict.round.signals) == (7, [{"ü": "ä"}])


def test_where_the_first_finds_nothing_nothing_is_written(run: Run):
    before = told(run)
    Run.objects.filter(pk=run.pk).update(attempt=run.attempt + 1)  # somebody else has it now
    assert not judged(run, 1, "why").make()
    run.refresh_from_db()
    assert (run.why, told(run), Verdict.objects.count()) == ("", before, 0)


def test_where_a_later_one_finds_nothing_all_is_undone(run: Run):
    before = told(run)
    with pytest.raises((NothingChanged, DataError)):
        judged(run, 9, "why").make()
    run.refresh_from_db()
    assert (run.why, told(run), Verdict.objects.count()) == ("", before, 0)


def test_what_breaks_a_constraint_undoes_all(run: Run):
    assert judged(run, 1, "first").make()
    before = told(run)
    with pytest.raises(IntegrityError):
        judged(run, 1, "second").make()  # a second verdict in the same place
    run.refresh_from_db()
    assert (run.why, told(run), Verdict.objects.count()) == ("first", before, 1)


def test_what_is_done_beside_joins_them(run: Run):
    before = told(run)

    def fail() -> None:
        assert connection.in_atomic_block
        assert Event.objects.filter(run=run, kind="judged").exists()
        raise RuntimeError("beside")

    with pytest.raises(RuntimeError, match="beside"):
        judged(run, 1, "why").make(fail)
    run.refresh_from_db()
    assert (run.why, told(run)) == ("", before)


def test_what_is_done_first_is_undone_where_the_leading_update_finds_nothing(run: Run):
    before = told(run)
    writes = judged(run, 1, "why")
    Run.objects.filter(pk=run.pk).update(attempt=run.attempt + 1)

    def first() -> None:
        event_record(run.pk, "revised", actor="worker")

    assert not writes.make(first=first)
    assert told(run) == before


def test_what_is_done_first_may_say_what_leads(run: Run):
    writes = Writes()
    writes.add(Event, event_values(run.pk, "judged", actor="worker"))
    before = told(run)

    def first() -> None:
        writes.lead(Run, {"why": "first"}, '"id" = %s', [run.pk])

    assert writes.make(first=first)
    run.refresh_from_db()
    assert (run.why, told(run)) == ("first", [*before, "judged"])


@pytest.mark.parametrize("in_a_transaction", [False, True])
@pytest.mark.parametrize("found", [False, True])
def test_an_insert_is_left_out_where_its_query_finds_anything(run: Run, found: bool, in_a_transaction: bool):
    if found:
        event_record(run.pk, "steered", actor="somebody")
    before = told(run)
    writes = judged(run, 1, "why")
    begun = event_values(run.pk, "claimed", actor="worker")
    writes.add(Event, begun, unless=Found(ANY_EVENT, [run.pk, "steered"]))
    assert writes.make((lambda: None) if in_a_transaction else None)
    assert writes.left_out is found
    assert told(run) == [*before, "judged", *([] if found else ["claimed"])]
