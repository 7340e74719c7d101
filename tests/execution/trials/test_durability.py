"""Messages that arrive twice, late or never change nothing, and lost work is resumed."""

import os
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils import timezone
from dramatiq.middleware import Shutdown

from refinement.execution.leases import (
    MAX_CRASHES,
    LeaseLost,
    lease_release,
    lease_renew,
    lease_take,
    lease_write,
)
from refinement.execution.slots import slot_offer, slots_take
from refinement.execution.trials import advancing as trials_service
from refinement.execution.trials.advancing import trial_advance
from refinement.execution.trials.judging import trial_ask
from refinement.execution.trials.recording import trial_done
from refinement.execution.waking import sweep
from refinement.models import BenchCall, BenchTrial, QueuedMessage, Run
from refinement.services.rubrics.bench import bench_cancel
from refinement.services.upkeep import Upkeep
from tests.execution.lifecycle.given import Scene, at_once, endpoint_of, targets, worker_threads
from tests.execution.trials.given import Table, advance, definition, messages, now_due, statuses, trials
from tests.execution.wire.stage import verdict
from tests.loopback.replies import from_lists, valid_replies

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[3]


def slot_take(lease, endpoint: str, limit: int) -> bool:
    """Takes one slot at an endpoint with this limit."""
    return bool(slots_take(lease, {endpoint: 1}, {endpoint: limit})[endpoint])


def long_ago() -> object:
    return timezone.now() - timedelta(minutes=1)


def test_a_message_that_comes_twice_judges_once(table: Table):
    table.says(8, 8)
    bench = table.bench(repeats=1)
    (trial,) = trials(bench)
    assert [trial_advance(trial.pk) for _ in range(3)] == [True, False, False]
    assert len(table.server.chats) == 1


def test_a_connection_that_breaks_off_as_the_verdict_is_kept_costs_no_call(table: Table, monkeypatch):
    table.says(8, 8)
    (trial,) = trials(table.bench(repeats=1))
    commit, broken = connection.commit, []

    def breaking():
        if not broken and BenchCall.objects.exists():
            broken.append(True)
            raise OperationalError("the connection broke off")
        commit()

    monkeypatch.setattr(connection, "commit", breaking)
    assert trial_advance(trial.pk)
    assert broken
    trial.refresh_from_db()
    assert trial.status == "done"
    assert (len(table.server.chats), BenchCall.objects.count()) == (1, 1)


def test_two_workers_with_the_same_message_judge_once(table: Table):
    table.server.latency = 0.2
    table.says(8, 8)
    (trial,) = trials(table.bench(repeats=1))
    results = at_once(*[lambda: trial_advance(trial.pk)] * 3)
    assert sorted(results) == [False, False, True]
    assert (len(table.server.chats), BenchCall.objects.count()) == (1, 1)


def test_a_trial_exists_once_for_its_number(table: Table):
    bench = table.bench(repeats=1)
    with pytest.raises(IntegrityError), transaction.atomic():
        BenchTrial.objects.create(bench=bench, number=1)


def test_a_trial_has_one_holder_who_may_write(table: Table):
    (trial,) = trials(table.bench(repeats=1))
    lease = lease_take(BenchTrial, trial.pk, "first")
    assert lease_take(BenchTrial, trial.pk, "second") is None
    assert lease.held.exists()
    assert lease_renew(lease)
    BenchTrial.objects.update(lease_until=long_ago())
    other = lease_take(BenchTrial, trial.pk, "second")
    assert other.attempt == lease.attempt + 1
    assert not lease.held.exists()
    assert not lease_renew(lease)
    with pytest.raises(LeaseLost):
        lease_write(lease, asi="too late")


def test_a_holder_that_lost_its_lease_leaves_no_trace(table: Table):
    table.says(3, 8)
    bench = table.bench(repeats=1)
    (trial,) = trials(bench)
    late = lease_take(BenchTrial, trial.pk, "late")
    asked = trial_ask(late)
    BenchTrial.objects.update(lease_until=long_ago())
    advance(bench)
    with pytest.raises(LeaseLost):
        trial_done(late, asked)
    (trial,) = trials(bench)
    assert (trial.composite, trial.calls_made, BenchCall.objects.count()) == (8, 1, 1)


def test_a_lost_message_is_sent_again(table: Table):
    (trial,) = trials(table.bench(repeats=1))
    QueuedMessage.objects.all().delete()
    assert sweep().sent == 0, "what has just been sent is given its time"
    BenchTrial.objects.update(woken_at=long_ago())
    Upkeep().once()
    assert messages(trial) == 1
    assert sweep().sent == 0


def test_a_dead_workers_trial_is_sent_for_and_nobody_elses(table: Table):
    dead, alive, ended = trials(table.bench(repeats=3))
    lease_take(BenchTrial, dead.pk, "dead")
    lease_take(BenchTrial, alive.pk, "alive")
    BenchTrial.objects.update(woken_at=long_ago())
    BenchTrial.objects.filter(pk=dead.pk).update(lease_until=long_ago())
    BenchTrial.objects.filter(pk=ended.pk).update(status="failed", error="Over.")
    QueuedMessage.objects.all().delete()
    assert sweep().sent == 1
    assert [messages(trial) for trial in (dead, alive, ended)] == [1, 0, 0]


def test_two_sweepers_send_once(table: Table):
    (trial,) = trials(table.bench(repeats=1))
    QueuedMessage.objects.all().delete()
    BenchTrial.objects.update(woken_at=long_ago())
    assert sorted(swept.sent for swept in at_once(sweep, sweep)) == [0, 1]
    assert messages(trial) == 1


def test_a_worker_that_stops_hands_its_trial_on(table: Table, monkeypatch):
    def stop(lease):
        raise Shutdown

    (trial,) = trials(table.bench(repeats=1))
    QueuedMessage.objects.all().delete()
    with monkeypatch.context() as patch:
        patch.setattr(trials_service, "trial_step", stop)
        assert trial_advance(trial.pk)
    assert messages(trial) == 1
    trial.refresh_from_db()
    assert trial.lease_owner == ""


def test_a_bug_lets_go_and_is_raised(table: Table, monkeypatch):
    def break_down(lease):
        raise RuntimeError("a bug")

    (trial,) = trials(table.bench(repeats=1))
    monkeypatch.setattr(trials_service, "trial_step", break_down)
    with pytest.raises(RuntimeError, match="a bug"):
        trial_advance(trial.pk)
    trial.refresh_from_db()
    assert (trial.status, trial.lease_owner) == ("running", "")
    assert lease_take(BenchTrial, trial.pk, "the next") is not None


def test_trials_that_end_at_once_end_the_bench(table: Table):
    table.server.replies = valid_replies(7.0)
    bench = table.bench(repeats=6)
    at_once(*[lambda trial=trial: trial_advance(trial.pk) for trial in trials(bench)])
    bench.refresh_from_db()
    assert (statuses(bench), bench.status) == (["done"] * 6, "finished")


def test_workers_carry_a_bench_through(table: Table):
    table.server.replies = valid_replies()
    bench = table.bench(repeats=5)
    with worker_threads(3):
        table.server.wait_for(lambda: type(bench).objects.get(pk=bench.pk).status == "finished")
    assert statuses(bench) == ["done"] * 5
    assert len(table.server.chats) == 5


def test_cancelling_stops_a_call_and_keeps_what_is_done(table: Table):
    table.says(8)
    bench = table.bench(repeats=3)
    first, second, third = trials(bench)
    trial_advance(first.pk)
    table.server.replies = from_lists({"judge": [verdict(definition(), 2)]})
    table.server._asked.clear()
    table.server.chunk_delay = 30.0
    calling = threading.Thread(target=at_once, args=(lambda: trial_advance(second.pk),))
    calling.start()
    table.server.wait_for(lambda: len(table.server.chats) == 2)
    assert bench_cancel(bench=bench)
    calling.join(60)
    assert not calling.is_alive()
    table.server.wait_for(lambda: table.server.chats[1].aborted is not None)
    bench.refresh_from_db()
    assert (bench.status, statuses(bench)) == ("cancelled", ["done", "cancelled", "cancelled"])
    assert not trial_advance(third.pk)
    assert not bench_cancel(bench=bench), "twice changes nothing"


# --- a worker that is killed ----------------------------------------------------------------------
def killed_worker(trial: BenchTrial, table: Table) -> None:
    """A process that begins the trial's call and dies in the middle of it."""
    settings = connection.settings_dict
    address = f"sqlite:///{settings['NAME']}"
    if connection.vendor == "postgresql":
        who = f"{quote(settings['USER'])}:{quote(settings['PASSWORD'])}"
        address = f"postgres://{who}@{settings['HOST']}:{settings['PORT'] or 5432}/{settings['NAME']}"
    script = (
        "import django; django.setup(); from refinement.execution.trials.advancing import trial_advance; "
        f"trial_advance({trial.pk})"
    )
    asked = len(table.server.chats)
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "wiggum_site.settings", "DATABASE_URL": address},
    )
    try:
        table.server.wait_for(lambda: len(table.server.chats) > asked)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(10)


def test_a_killed_workers_trial_is_taken_up_again(table: Table):
    table.says(3, 8)
    bench = table.bench(repeats=1)
    (trial,) = trials(bench)
    table.server.latency = 30
    killed_worker(trial, table)
    table.server.latency = 0
    trial.refresh_from_db()
    assert (trial.status, trial.composite) == ("running", None)
    assert not trial_advance(trial.pk), "the lease still stands"
    BenchTrial.objects.update(lease_until=long_ago(), woken_at=long_ago())
    QueuedMessage.objects.all().delete()
    assert sweep().sent == 1
    table.says(8)
    advance(bench)
    (trial,) = trials(bench)
    assert (trial.status, trial.composite, trial.attempt) == ("done", 8, 2)
    assert BenchCall.objects.count() == 1


def test_a_trial_that_always_kills_its_worker_fails(table: Table):
    table.says(*[8] * MAX_CRASHES)
    bench = table.bench(repeats=1)
    (trial,) = trials(bench)
    table.server.latency = 30
    for number in range(1, MAX_CRASHES + 1):
        killed_worker(trial, table)
        assert len(table.server.chats) == number
        BenchTrial.objects.update(lease_until=long_ago())
        if 2 <= number < MAX_CRASHES:
            assert trial_advance(trial.pk)  # takes it over, and lets it wait
            trial.refresh_from_db()
            assert (trial.status, trial.crashes) == ("waiting", number)
            now_due(bench)
    assert trial_advance(trial.pk)
    (trial,) = trials(bench)
    assert (trial.status, trial.crashes, trial.composite) == ("failed", MAX_CRASHES, None)
    assert trial.error.startswith("The worker stopped or stopped responding 5 times during this trial")
    bench.refresh_from_db()
    assert bench.status == "finished"
    assert len(table.server.chats) == MAX_CRASHES


# --- places at an endpoint ------------------------------------------------------------------------
@pytest.fixture
def narrow(table: Table, monkeypatch) -> Table:
    """The server under a second name, which takes one call at a time."""
    monkeypatch.setenv("WIGGUM_ENDPOINTS", endpoint_of(table.server, "narrow", 1))
    table.server.replies = valid_replies(5.0)
    return table


def narrow_bench(table: Table, repeats: int):
    return table.bench(repeats=repeats, judge=targets("narrow")["judge"])


def test_trials_keep_to_what_the_endpoint_takes_at_once(narrow: Table):
    narrow.server.latency = 0.1
    bench = narrow_bench(narrow, 4)
    with worker_threads(4):
        narrow.server.wait_for(lambda: type(bench).objects.get(pk=bench.pk).status == "finished")
    assert statuses(bench) == ["done"] * 4
    spans = sorted((entry.started, entry.finished) for entry in narrow.server.chats)
    assert all(ended <= began for (_, ended), (began, _) in pairwise(spans))


def test_runs_and_trials_share_the_places(narrow: Table):
    (first,) = trials(narrow_bench(narrow, 1))
    run = Scene(narrow.server, narrow.project).launch(**targets("narrow"))
    run_lease, trial_lease = lease_take(Run, run.pk, "one"), lease_take(BenchTrial, first.pk, "two")
    assert slot_take(run_lease, "narrow", 1)
    assert not slot_take(trial_lease, "narrow", 1)
    Run.objects.update(status="paused")
    assert slot_take(trial_lease, "narrow", 1)
    Run.objects.update(status="running")
    Run.objects.update(calling={})
    assert not slot_take(run_lease, "narrow", 1)
    lease_release(trial_lease)
    assert slot_take(run_lease, "narrow", 1)


def test_a_trial_that_found_no_place_is_offered_the_next_one(narrow: Table):
    first, second = trials(narrow_bench(narrow, 2))
    assert slot_take(lease_take(BenchTrial, first.pk, "one"), "narrow", 1)
    assert trial_advance(second.pk)
    second.refresh_from_db()
    assert (second.status, second.waiting_for) == ("waiting", "a free slot at narrow")
    assert second.calls_made == 0
    QueuedMessage.objects.all().delete()
    slot_offer("narrow")
    assert messages(second) == 1
