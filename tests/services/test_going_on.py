"""A worker goes on with a run where nobody waits: the next lease is written with the last results."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from dramatiq.middleware import CurrentMessage

from refinement.models import Call, QueuedMessage, Run
from refinement.providers.registry import Target
from refinement.selectors.rubrics import version_named
from refinement.services import going_on, recollection, recording
from refinement.services.advancing import leases_give_back, run_advance, run_take
from refinement.services.leases import lease_take
from refinement.services.lifecycle import run_cancel, run_pause, run_resume
from refinement.services.rubrics import default_rubrics_install
from refinement.services.runs import run_create
from refinement.services.steering import instruction_give
from refinement.services.waking import sweep
from tests.loopback.fixtures import ollama_server
from tests.loopback.replies import from_lists
from wiggum_site.broker import broker

__all__ = ["ollama_server"]
pytestmark = pytest.mark.django_db(transaction=True)
KEYS = ("depth", "relevance", "completeness", "grounded", "specificity", "structure")
STEPS = 5  # a seed, judged and revised twice: three verdicts and two revisions


@pytest.fixture(autouse=True)
def nothing_kept():
    recollection._memories.clear()
    recollection._kept.clear()
    yield
    CurrentMessage._MESSAGE.set(None)
    recollection._memories.clear()
    recollection._kept.clear()


@pytest.fixture(autouse=True)
def model_server(ollama_server, monkeypatch):
    """Replies that repeat after each whole run."""
    said = [json.dumps({**dict.fromkeys(KEYS, 5 + n), "issues": ["x"]}) for n in range(3)]
    written = [f"Revision {n} of the text" for n in range(2)]
    ollama_server.replies = from_lists({"judge": said, "producer": written}, cycle=True)
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)


@pytest.fixture
def run(project):
    return made(project)


def made(project):
    default_rubrics_install(project=project)
    target = Target("ollama", "loopback:8b")
    version = version_named(project, "wiggum")
    return run_create(project=project, version=version, task="t", seed="First", producer=target, judge=target)


@pytest.fixture
def consumer():
    broker.passing.before_worker_boot(broker, None)  # another test's worker may have stopped in this process
    consumer = broker.consume("runs", prefetch=4, timeout=0)
    yield consumer
    consumer.close()
    broker.consumers.clear()


def step(consumer):
    """As a worker's thread: the next message, one step, and an acknowledgement."""
    message = next(consumer)
    assert message is not None
    CurrentMessage._MESSAGE.set(message)
    result = run_advance(*message.args)
    CurrentMessage._MESSAGE.set(None)
    consumer.ack(message)
    return result


def fresh(run):
    return Run.objects.get(pk=run.pk)


def told(run):
    return [
        (event.kind, event.data.get("step"), event.data.get("round"))
        for event in run.events.order_by("pk")
        if event.kind != "queued"
    ]


def test_the_run_is_still_held_after_the_step(run, consumer):
    step(consumer)
    row = fresh(run)
    assert row.lease_owner
    assert row.lease_until > timezone.now() + timedelta(seconds=10)
    assert lease_take(run.pk, "somebody else") is None
    assert QueuedMessage.objects.get().state == "claimed"


def test_a_step_that_went_on_takes_no_lease_and_reads_nothing(run, consumer, monkeypatch):
    step(consumer)
    monkeypatch.setattr("refinement.services.advancing.lease_take", None)
    with CaptureQueriesContext(connection) as queries:
        step(consumer)
    read = [query["sql"] for query in queries if "refinement_round" in query["sql"]]
    assert not [sql for sql in read if sql.startswith("SELECT")]


def test_the_next_step_s_beginning_is_told_with_the_results_of_this_one(run, consumer):
    step(consumer)
    assert told(run)[-2:] == [("judged", None, 1), ("claimed", "revise", 2)]
    assert recollection._kept[run.pk].told
    with CaptureQueriesContext(connection) as queries:
        step(consumer)
    assert not [query for query in queries if "refinement_instruction" in query["sql"]]
    assert told(run)[-2:] == [("revised", None, 2), ("claimed", "judge", 2)]


def test_a_revision_that_people_wait_for_begins_with_what_they_say(run, consumer, owner):
    given = instruction_give(run=run, text="Say how it is undone.", user=owner)
    step(consumer)
    assert told(run)[-1] == ("judged", None, 1)
    assert not recollection._kept[run.pk].told
    later = instruction_give(run=run, text="And by whom.", user=owner)  # before it has begun
    step(consumer)
    begun = run.events.get(kind="claimed", data__step="revise")
    assert begun.data["instructions"] == [given.pk, later.pk]
    assert not run.instructions.filter(used_in_round=None).exists()


def test_it_all_comes_to_the_same_as_the_long_way(project, consumer):
    long = made(project)
    for _ in range(STEPS):
        run_advance(long.pk)  # by nobody's message: taken, let go, sent for
    QueuedMessage.objects.all().delete()
    short = made(project)
    for _ in range(STEPS):
        step(consumer)
    assert told(short) == told(long)
    assert told(short)[-2:] == [("judged", None, 3), ("stopped", None, None)]
    fields = ("status", "outcome", "stop_reason", "why", "best", "r1", "calls_made", "attempt", "trajectory")
    assert [getattr(fresh(short), name) for name in fields] == [getattr(fresh(long), name) for name in fields]
    assert not fresh(short).lease_owner


def test_the_end_comes_with_the_last_verdict_and_leaves_nothing(run, consumer):
    results = [step(consumer) for _ in range(STEPS)]
    assert [result.finish is not None for result in results] == [False] * (STEPS - 1) + [True]
    assert next(consumer) is None
    assert not QueuedMessage.objects.exists()
    assert (recollection._kept, recollection._memories) == ({}, {})


def test_who_waits_goes_first(project, consumer):
    first, second = made(project), made(project)
    consumer.prefetch = 1
    assert step(consumer).step.round == 1
    assert not fresh(first).lease_owner  # the second was waiting: the first has let go, and stands in line
    step(consumer)
    assert fresh(second).rounds_judged == 1
    assert fresh(first).rounds_judged == 1


@pytest.mark.parametrize("stop", [run_pause, run_cancel])
def test_whoever_stops_the_run_in_between_is_not_overruled(run, consumer, stop):
    step(consumer)
    stop(run=fresh(run))
    before = fresh(run)
    assert step(consumer).lost
    after = fresh(run)
    assert (after.status, after.attempt, after.rounds.count()) == (before.status, before.attempt, 1)


def test_a_run_that_was_paused_and_resumed_in_between_goes_on(run, consumer):
    step(consumer)
    run_pause(run=fresh(run))
    run_resume(run=fresh(run))
    results = [step(consumer) for _ in range(STEPS)]
    assert [result.lost for result in results].count(True) == 1
    assert fresh(run).outcome == "FAIL"


def test_a_kept_lease_that_has_grown_old_is_renewed_or_taken_anew(run, consumer, monkeypatch):
    step(consumer)
    monkeypatch.setattr(recollection, "RENEW_EVERY", timedelta(0))
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() + timedelta(seconds=1))
    kept = recollection._kept[run.pk]
    assert run_take(run.pk) is kept
    assert fresh(run).lease_until > timezone.now() + timedelta(seconds=10)
    recollection._kept[run.pk] = kept
    Run.objects.filter(pk=run.pk).update(attempt=7, lease_owner="", lease_until=None)
    taken = run_take(run.pk)
    assert (taken.lease.attempt, taken.told) == (8, False)


def test_a_lease_that_ran_out_is_anybody_s(run, consumer):
    step(consumer)
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert lease_take(run.pk, "somebody else") is not None


def test_a_worker_that_has_stopped_gives_back_what_it_kept(run, consumer):
    step(consumer)
    consumer.close()
    leases_give_back()
    assert not fresh(run).lease_owner
    assert set(QueuedMessage.objects.values_list("state", flat=True)) == {"queued"}
    assert recollection._kept == {}


def test_leases_whose_messages_were_lost_are_not_kept_for_ever(run, consumer, monkeypatch):
    step(consumer)
    old = recollection._kept.pop(run.pk)
    stale = replace(old, since=old.since - 60)
    recollection._kept.update(dict.fromkeys(range(-recollection.MOST_RUNS, 0), stale))
    recollection.lease_keep(old)
    assert recollection._kept == {run.pk: old}


@pytest.fixture
def no_answer(monkeypatch):
    """Breaks the connection off just after its next commit that writes a call."""
    commit, broken = connection.commit, []

    def breaking():
        written = not broken and Call.objects.exists()
        commit()
        if written:
            broken.append(True)
            raise OperationalError("the connection broke off")

    monkeypatch.setattr(connection, "commit", breaking)
    return broken


def test_a_commit_whose_answer_was_lost_is_not_made_twice(run, consumer, no_answer):
    assert step(consumer).lost  # as far as anybody here can know
    assert no_answer
    assert (fresh(run).rounds_judged, Call.objects.count()) == (1, 1)
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1), woken_at=None)
    assert sweep().sent == 1
    for _ in range(STEPS - 1):
        step(consumer)
    assert (fresh(run).outcome, Call.objects.count()) == ("FAIL", STEPS)


def test_a_step_that_cannot_be_decided_costs_no_result(run, consumer, monkeypatch):
    def undecided(rubric, history):
        raise AssertionError("a mistake of ours")

    monkeypatch.setattr(going_on, "next_step", undecided)
    step(consumer)
    assert fresh(run).rounds_judged == 1
    assert not fresh(run).lease_owner  # let go of, and sent for
    assert next(consumer) is not None


@pytest.fixture
def sent(monkeypatch):
    """A broker whose messages are sent only after the commit."""
    woken = []
    monkeypatch.setattr(recording, "sending_joins", lambda: False)
    monkeypatch.setattr(going_on, "run_may_pass_on", lambda message: True)
    monkeypatch.setattr(going_on, "run_wake", woken.append)
    return woken


def test_where_the_message_could_not_be_passed_on_the_lease_is_given_back(run, sent, monkeypatch):
    monkeypatch.setattr(going_on, "run_pass_on", lambda message: False)
    run_advance(run.pk)
    assert not fresh(run).lease_owner
    assert (sent, recollection._kept) == ([run.pk], {})


def test_a_broker_that_does_not_answer_costs_no_result(run, sent, monkeypatch):
    def away(message):
        raise ConnectionError("no route to the broker")

    monkeypatch.setattr(going_on, "run_pass_on", away)
    run_advance(run.pk)
    assert fresh(run).rounds_judged == 1
    assert not fresh(run).lease_owner
    assert sent == [run.pk]


def test_passed_on_after_the_commit_it_is_kept(run, sent, monkeypatch):
    seen = []

    def passed(message):
        seen.append(message.args[0] in recollection._kept)  # whoever gets the message finds it
        return True

    monkeypatch.setattr(going_on, "run_pass_on", passed)
    for _ in range(STEPS):
        run_advance(run.pk)
    assert seen == [True] * (STEPS - 1)
    assert sent == []
    assert fresh(run).outcome == "FAIL"
