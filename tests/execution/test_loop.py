"""A worker's loop: step after step under one lease, until the run ends or waits, or other work waits."""

import json
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from refinement.broker.interrupting import interrupt_all, work_begins, work_is_done, worker_starts
from refinement.execution import advancing, loop, waking
from refinement.execution.advancing import run_advance
from refinement.execution.leases import LEASE, lease_take
from refinement.execution.loop import run_loop
from refinement.execution.steps import recording
from refinement.execution.steps.step import StepOptions
from refinement.execution.waking import IN_TRANSIT, sweep, work_is_waiting
from refinement.models import Call, QueuedMessage, Run
from refinement.providers.registry import Target
from refinement.selectors.rubrics.definitions import version_named
from refinement.selectors.runs.history import brief_of, history_of
from refinement.services.rubrics.editing import default_rubrics_install
from refinement.services.runs.creating import run_create
from refinement.services.runs.lifecycle import run_cancel, run_pause, run_resume
from refinement.services.runs.steering import instruction_give
from tests.execution.lifecycle.given import worker_threads
from tests.loopback.fixtures import ollama_server
from tests.loopback.replies import from_lists
from tests.stepping import run_step
from wiggum_site.broker import broker

__all__ = ["ollama_server"]
pytestmark = pytest.mark.django_db(transaction=True)
KEYS = ("depth", "relevance", "completeness", "grounded", "specificity", "structure")
STEPS = 5  # a seed, judged and revised twice: three verdicts and two revisions
COURSE = [
    ("claimed", "judge", 1),
    ("judged", None, 1),
    ("revised", None, 2),
    ("judged", None, 2),
    ("revised", None, 3),
    ("judged", None, 3),
    ("stopped", None, None),
]


@pytest.fixture(autouse=True)
def model_server(ollama_server, monkeypatch):
    """Replies that repeat after each whole run."""
    said = [json.dumps({**dict.fromkeys(KEYS, 5 + n), "issues": ["x"]}) for n in range(3)]
    written = [f"Revision {n} of the text" for n in range(2)]
    ollama_server.replies = from_lists({"judge": said, "producer": written}, cycle=True)
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    return ollama_server


@pytest.fixture
def run(project):
    return made(project)


def made(project):
    default_rubrics_install(project=project)
    target = Target("ollama", "loopback:8b")
    version = version_named(project, "wiggum")
    return run_create(project=project, version=version, task="t", seed="First", producer=target, judge=target)


def fresh(run):
    return Run.objects.get(pk=run.pk)


def events(*runs):
    """What happened to the runs, in order."""
    return [
        (event.kind, event.data.get("step"), event.data.get("round"))
        for event in runs[0].events.model.objects.filter(run__in=runs).order_by("pk")
        if event.kind != "queued"
    ]


def during_steps(lease, look, **options):
    """The run carried to its end; what `look` saw at the beginning of each step."""
    seen = []
    run_loop(lease, StepOptions(on_step=lambda step: seen.append(look()), **options))
    return seen


def test_one_message_carries_a_run_to_its_end(run):
    result = run_advance(run.pk)
    row = fresh(run)
    assert result.finish is not None
    assert (row.status, row.outcome, row.lease_owner, row.lease_until) == ("finished", "FAIL", "", None)
    assert events(run) == COURSE
    assert QueuedMessage.objects.count() == 1  # the one that was sent when the run was made


def test_step_by_step_it_comes_to_the_same(project):
    at_once, stepwise = made(project), made(project)
    run_advance(at_once.pk, turn_over=lambda: False)
    results = [run_step(stepwise.pk) for _ in range(STEPS)]
    assert run_step(stepwise.pk) is None
    assert [result.finish is not None for result in results] == [False] * (STEPS - 1) + [True]
    assert events(at_once) == COURSE
    assert [event for event in events(stepwise) if event[0] != "claimed"] == COURSE[1:]
    assert [event[:2] for event in events(stepwise) if event[0] == "claimed"] == [
        ("claimed", step) for step in ("judge", "revise", "judge", "revise", "judge")
    ]
    fields = ("status", "outcome", "stop_reason", "why", "best", "r1", "calls_made", "trajectory")
    assert [getattr(fresh(stepwise), name) for name in fields] == [
        getattr(fresh(at_once), name) for name in fields
    ]


def test_the_history_of_the_loop_is_what_the_rows_say(run):
    lease, seen = lease_take(Run, run.pk, "a test"), []

    def compare(result):
        row = fresh(run)
        brief = brief_of(row)
        seen.append(result.history is None or result.history == history_of(row, brief.rubric, whole=True))

    run_loop(lease, StepOptions(on_result=compare))
    assert seen == [True] * (STEPS + 1)


def test_each_step_renews_the_lease_and_moves_the_fence(run):
    lease = lease_take(Run, run.pk, "a test")

    def held():
        row = fresh(run)
        return row.attempt, row.lease_until and row.lease_until > timezone.now() + LEASE / 2

    def grow_old(step=None):
        Run.objects.filter(pk=run.pk, status="running").update(lease_until=timezone.now() + LEASE / 10)

    assert during_steps(lease, held, on_text=lambda piece: grow_old()) == [
        *((attempt, True) for attempt in range(1, STEPS + 1)),
        (STEPS + 1, None),
    ]


def test_a_step_reads_nothing_that_the_loop_knows(run):
    lease = lease_take(Run, run.pk, "a test")
    with CaptureQueriesContext(connection) as queries:
        run_loop(lease, StepOptions())
    texts = [query["sql"] for query in queries if '"candidate"' in query["sql"]]
    # One at the start, and one after the end, for the ledger.
    assert len([sql for sql in texts if sql.startswith("SELECT")]) == 2


def test_who_waits_goes_next(project, monkeypatch):
    """One thread and two runs: they take turns."""
    monkeypatch.setattr(waking, "IN_TRANSIT", timedelta())
    first, second = made(project), made(project)
    with worker_threads(1):
        broker.join("runs", timeout=60_000)
    assert (fresh(first).outcome, fresh(second).outcome) == ("FAIL", "FAIL")
    judged = [
        (event.run_id, event.data["round"])
        for event in first.events.model.objects.filter(kind="judged").order_by("pk")
    ]
    assert judged == [(run.pk, number) for number in (1, 2, 3) for run in (first, second)]


def test_a_run_that_gives_way_is_sent_for_and_free(run):
    QueuedMessage.objects.all().delete()
    before = timezone.now()
    run_step(run.pk)
    row = fresh(run)
    assert (row.status, row.lease_owner, row.lease_until) == ("running", "", None)
    assert row.woken_at >= before
    assert QueuedMessage.objects.get().state == "queued"


def test_a_turn_is_over_after_its_time(run, monkeypatch):
    monkeypatch.setattr(advancing, "TURN_SECONDS", 0.0)
    run_advance(run.pk)
    assert (fresh(run).status, fresh(run).rounds_judged, fresh(run).lease_owner) == ("running", 1, "")


def test_others_wait_as_long_as_nobody_has_taken_them_up(project):
    assert not work_is_waiting()
    run = made(project)
    assert not work_is_waiting()  # its message is on its way to a thread
    Run.objects.update(woken_at=timezone.now() - IN_TRANSIT)
    assert work_is_waiting()
    lease_take(Run, run.pk, "somebody")
    assert not work_is_waiting()
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert work_is_waiting()
    Run.objects.update(status="waiting", next_try_at=timezone.now() + timedelta(minutes=1), lease_until=None)
    assert not work_is_waiting()
    Run.objects.update(next_try_at=timezone.now())
    assert work_is_waiting()
    run_pause(run=fresh(run))
    assert not work_is_waiting()


def test_a_revision_begins_with_what_people_have_said_by_then(run, owner):
    lease = lease_take(Run, run.pk, "a test")
    given = []

    def say(result):
        if len(given) < 2:
            given.append(instruction_give(run=fresh(run), text=f"Wish {len(given)}.", user=owner).pk)

    run_loop(lease, StepOptions(on_result=say))
    begun = run.events.filter(kind="claimed", data__step="revise").order_by("pk")
    assert [event.data.get("instructions") for event in begun] == [given[:1], given[1:]]
    assert not run.instructions.filter(used_in_round=None).exists()


@pytest.mark.parametrize("stop", [run_pause, run_cancel])
def test_whoever_stops_the_run_between_steps_is_not_overruled(run, stop):
    lease, before = lease_take(Run, run.pk, "a test"), []

    def stop_it(result):
        if not before:
            stop(run=fresh(run))
            before.append(fresh(run))

    assert run_loop(lease, StepOptions(on_result=stop_it)).lost
    after = fresh(run)
    assert (after.status, after.attempt, after.rounds.count()) == (before[0].status, before[0].attempt, 1)


def test_a_run_that_is_stopped_just_as_others_wait_is_not_sent_for(run):
    QueuedMessage.objects.all().delete()

    def pause_and_yield():
        run_pause(run=fresh(run))
        return True

    run_advance(run.pk, turn_over=pause_and_yield)
    assert (fresh(run).status, QueuedMessage.objects.count()) == ("paused", 0)


def test_a_run_that_was_paused_and_resumed_meanwhile_goes_on(run):
    lease = lease_take(Run, run.pk, "a test")

    def pause_and_resume(result):
        if fresh(run).rounds_judged == 1 and fresh(run).attempt == 2:
            run_pause(run=fresh(run))
            run_resume(run=fresh(run))

    assert run_loop(lease, StepOptions(on_result=pause_and_resume)).lost
    run_advance(run.pk)
    assert (fresh(run).outcome, Call.objects.count()) == ("FAIL", STEPS)


def test_a_worker_that_is_stop_gracefully_between_steps_gives_the_run_back(run, monkeypatch):
    QueuedMessage.objects.all().delete()
    monkeypatch.setattr(advancing, "pass_slot_on", lambda *_: interrupt_all(lambda thread_id: None))
    assert work_begins()
    try:
        assert run_advance(run.pk) is None
    finally:
        worker_starts()
        work_is_done()
    assert (fresh(run).status, fresh(run).lease_owner, fresh(run).rounds_judged) == ("running", "", 1)
    assert QueuedMessage.objects.get().state == "queued"


@pytest.fixture
def no_answer(monkeypatch):
    """Breaks the connection off just after its first commit that writes a call."""
    commit, broken = connection.commit, []

    def breaking():
        written = not broken and Call.objects.exists()
        commit()
        if written:
            broken.append(True)
            raise OperationalError("the connection broke off")

    monkeypatch.setattr(connection, "commit", breaking)
    return broken


def test_a_commit_whose_answer_was_lost_is_not_made_twice(run, no_answer):
    assert run_advance(run.pk).lost  # as far as anybody here can know
    assert no_answer
    assert (fresh(run).rounds_judged, Call.objects.count()) == (1, 1)
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1), woken_at=None)
    assert sweep().sent == 1
    run_advance(run.pk)
    assert (fresh(run).outcome, Call.objects.count()) == ("FAIL", STEPS)


def test_a_write_that_is_rolled_back_leaves_nothing_and_is_made_again(run, monkeypatch):
    fail, create = [True], recording.event_record

    def failing(run_id, kind, **more):
        create(run_id, kind, **more)
        if kind == "judged" and fail:
            fail.clear()
            raise OperationalError("the connection broke off")

    monkeypatch.setattr(recording, "event_record", failing)
    run_advance(run.pk)
    assert not fail
    assert events(run) == COURSE
    row = fresh(run)
    assert (row.calls_made, Call.objects.count(), row.trajectory) == (
        STEPS,
        STEPS,
        ["5.000000", "6.000000", "7.000000"],
    )


def test_a_step_that_cannot_be_decided_costs_no_result(run, monkeypatch):
    def undecided(rubric, history):
        raise AssertionError("a mistake of ours")

    monkeypatch.setattr(recording, "next_step", undecided)
    decide = loop.next_step
    monkeypatch.setattr(
        loop,
        "next_step",
        lambda rubric, history: (undecided if Call.objects.exists() else decide)(rubric, history),
    )
    with pytest.raises(AssertionError, match="a mistake of ours"):
        run_advance(run.pk)
    row = fresh(run)
    assert (row.rounds_judged, row.lease_owner, row.step_failures) == (1, "", 1)
