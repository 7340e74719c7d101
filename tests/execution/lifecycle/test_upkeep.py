"""Lost messages are sent again with growing delays, and a server that is back is noticed."""

from datetime import timedelta

import pytest
from django.db import DatabaseError
from django.utils import timezone

from refinement.execution import metrics, waking
from refinement.execution.leases import lease_take
from refinement.execution.waking import RESEND_AFTER, SweepResult, sweep
from refinement.models import MetricTotal, QueuedMessage, Run
from refinement.services.upkeep import Upkeep
from tests.execution.lifecycle.given import (
    STATES,
    Scene,
    advance,
    at_once,
    fields_of,
    kinds,
    messages,
    rubric,
)
from tests.loopback.faults import Fault

pytestmark = pytest.mark.django_db
MOMENT = timedelta(seconds=1)


def lost(scene: Scene, since: timedelta | None, wakes: int = 0, **fields: object) -> Run:
    """A run whose message got lost; it was sent so long ago."""
    run = scene.launch()
    sent = None if since is None else timezone.now() - since
    Run.objects.filter(pk=run.pk).update(**{"woken_at": sent, "wakes": wakes, **fields})
    QueuedMessage.objects.all().delete()
    return run


@pytest.mark.parametrize(
    ("since", "wakes", "sent"),
    [
        (None, 0, 1),
        (RESEND_AFTER - MOMENT, 0, 0),
        (RESEND_AFTER + MOMENT, 0, 1),
        (RESEND_AFTER * 2 - MOMENT, 1, 0),
        (RESEND_AFTER * 2 + MOMENT, 1, 1),
        (RESEND_AFTER * 8 - MOMENT, 3, 0),
        (RESEND_AFTER * 8 + MOMENT, 3, 1),
        (RESEND_AFTER * 64 - MOMENT, 30, 0),
        (RESEND_AFTER * 64 + MOMENT, 30, 1),
    ],
)
def test_a_queued_run_without_a_message_is_sent_for_after_the_patience(scene: Scene, since, wakes, sent):
    run = lost(scene, since, wakes)
    assert (sweep().sent, messages(run)) == (sent, sent)
    run.refresh_from_db()
    assert run.wakes == wakes + sent
    assert sweep().sent == 0, "what has just been sent is given its time"


@pytest.mark.parametrize("since", [RESEND_AFTER * 2, None])
def test_runs_that_are_given_their_time_do_not_stand_before_a_lost_one(scene: Scene, monkeypatch, since):
    monkeypatch.setattr(waking, "SWEEP_AT_MOST", 3)
    patient = [lost(scene, RESEND_AFTER * 3, wakes=5) for _ in range(4)]
    run = lost(scene, since)
    assert sweep().sent == 1
    assert (messages(run), [messages(other) for other in patient]) == (1, [0] * 4)


def test_a_worker_with_threads_to_spare_does_not_wait_longer_each_time(scene: Scene):
    run = lost(scene, RESEND_AFTER + MOMENT, wakes=5)
    held = {"status": "running", "lease_owner": "a worker", "lease_until": timezone.now() - MOMENT}
    left = lost(scene, RESEND_AFTER + MOMENT, wakes=5, **held)
    recent = lost(scene, RESEND_AFTER - MOMENT, wakes=5)
    assert sweep().sent == 0
    assert sweep(patient=False) == SweepResult(sent=2, expired=1)
    assert [messages(each) for each in (run, left, recent)] == [1, 1, 0]


def test_no_more_than_a_handful_is_sent_for_at_once(scene: Scene, monkeypatch):
    monkeypatch.setattr(waking, "SWEEP_AT_MOST", 2)
    for _ in range(5):
        lost(scene, timedelta(hours=1))
    assert [sweep().sent for _ in range(4)] == [2, 2, 1, 0]


def test_patience_is_the_first_again_once_the_run_was_claimed(scene: Scene):
    run = lost(scene, timedelta(hours=1), wakes=5)
    assert lease_take(Run, run.pk, "a worker").row.wakes == 0


def test_a_run_with_an_expired_lease_is_sent_for_and_one_that_is_held_is_not(scene: Scene):
    for expired in (False, True):
        until = timezone.now() + (-MOMENT if expired else MOMENT * 9)
        held = {"status": "running", "lease_owner": "a worker", "lease_until": until}
        run = lost(scene, RESEND_AFTER * 2, **held)
        assert (sweep().sent, messages(run)) == (expired, expired)


def test_a_waiting_run_is_sent_for_when_its_time_has_come(scene: Scene):
    for due in (False, True):
        until = timezone.now() + (-MOMENT if due else MOMENT * 30)
        fields = {"status": "waiting", "next_try_at": until, "waiting_for": "the server"}
        run = lost(scene, RESEND_AFTER * 2, **fields)
        assert (sweep().sent, messages(run)) == (due, due)


@pytest.mark.parametrize(
    "state", [state for state in STATES if state not in ("queued", "running", "waiting")]
)
def test_runs_that_are_not_to_go_on_are_left_alone(scene: Scene, state: str):
    lost(scene, timedelta(hours=1), **fields_of(state))
    assert sweep().sent == 0


def test_a_swept_run_goes_on_from_where_it_was(scene: Scene):
    scene.says(5.0, 6.0)
    run = scene.launch(rubric(2))
    advance(run, 1)
    lease = lease_take(Run, run.pk, "a worker that is killed")
    assert lease is not None
    gone = timezone.now() - MOMENT
    Run.objects.filter(pk=run.pk).update(lease_until=gone, woken_at=gone - RESEND_AFTER)
    QueuedMessage.objects.all().delete()
    Upkeep().once()
    assert messages(run) == 1
    advance(run)
    assert (run.status, run.rounds_judged, scene.asked()) == ("finished", 2, 3)
    totals = dict(MetricTotal.objects.values_list("name", "value"))
    assert (totals["swept"], totals["lease_expiries"]) == (1, 1)


# --- servers that come back -------------------------------------------------------------------
def waiting_for_its_server(scene: Scene, upkeep: Upkeep) -> Run:
    """A run that has waited for so long that its next try is a minute away."""
    run = scene.launch(rubric(1))
    scene.server.go_offline()
    advance(run, 1)
    assert (run.status, run.waiting_endpoint) == ("waiting", "ollama")
    upkeep.once()
    Run.objects.filter(pk=run.pk).update(next_try_at=timezone.now() + timedelta(minutes=1))
    QueuedMessage.objects.all().delete()
    return run


def test_a_run_goes_on_as_soon_as_its_server_is_back(scene: Scene):
    scene.says(5.0)
    upkeep = Upkeep()
    run = waiting_for_its_server(scene, upkeep)
    upkeep.once()
    assert (messages(run), advance(run)) == (0, []), "the server is still away"
    scene.server.go_online()
    upkeep.once()
    assert messages(run) == 1
    advance(run)
    assert (run.status, run.rounds_judged, scene.asked()) == ("finished", 1, 1)
    assert kinds(run)[:4] == ["queued", "claimed", "waiting", "claimed"]


def test_it_is_sent_for_once_however_many_notice(scene: Scene):
    first, second = Upkeep(), Upkeep()
    run = waiting_for_its_server(scene, first)
    second.once()
    scene.server.go_online()
    first.once()
    second.once()
    first.once()
    assert messages(run) == 1


def test_a_server_that_asks_for_patience_is_given_it(scene: Scene):
    scene.server.faults = [Fault("rate_limit", retry_after="40")]
    run = scene.launch(rubric(1))
    before = timezone.now()
    advance(run, 1)
    QueuedMessage.objects.all().delete()
    upkeep = Upkeep()
    for _ in range(3):
        upkeep.once()
    run.refresh_from_db()
    assert timedelta(seconds=39) < run.next_try_at - before
    assert (run.status, messages(run), scene.asked()) == ("waiting", 0, 1)


def test_a_run_whose_endpoint_was_taken_away_does_not_stop_the_upkeep(scene: Scene):
    gone = lost(scene, None, **{**fields_of("waiting"), "waiting_endpoint": "nowhere"})
    other = lost(scene, None)
    Upkeep().once()
    assert (messages(gone), messages(other)) == (0, 1)


# --- totals -----------------------------------------------------------------------------------
@pytest.fixture
def no_totals():
    metrics._totals.clear()
    yield
    metrics._totals.clear()


def value(name: str) -> float:
    return MetricTotal.objects.get(name=name).value


def test_totals_add_up(db, no_totals):
    metrics.count("steps", "judge")
    metrics.count("steps", "judge", 2)
    metrics.totals_flush()
    metrics.totals_flush()
    assert value("steps") == 3
    metrics.count("steps", "judge")
    metrics.totals_flush()
    assert value("steps") == 4


def test_totals_that_could_not_be_written_are_kept_for_the_next_time(db, no_totals, monkeypatch):
    def away(pending: object) -> None:
        raise DatabaseError("gone")

    metrics.count("steps", "judge", 2)
    with monkeypatch.context() as patch:
        patch.setattr(metrics, "totals_add", away)
        with pytest.raises(DatabaseError):
            metrics.totals_flush()
    metrics.count("steps", "judge")
    metrics.totals_flush()
    assert value("steps") == 3


@pytest.mark.django_db(transaction=True)
def test_totals_of_many_threads_are_all_counted(no_totals):
    def work() -> None:
        for name in ("swept", "failures", "steps"):
            metrics.count(name)
        metrics.totals_flush()

    assert at_once(*[work] * 8) == [None] * 8
    metrics.totals_flush()
    assert [value(name) for name in ("failures", "steps", "swept")] == [8, 8, 8]
