"""An endpoint never gets more calls than its limit, and every run gets a turn."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from django.db import connection
from django.utils import timezone

from refinement.execution.leases import lease_take
from refinement.execution.slots import slot_offer, slots_take
from refinement.models import QueuedMessage, Run
from refinement.services.runs.lifecycle import run_pause
from tests.execution.lifecycle.given import (
    Scene,
    at_once,
    endpoint_of,
    messages,
    rubric,
    targets,
    worker_threads,
)
from tests.loopback.replies import delayed, valid_replies
from tests.loopback.server import LoopbackServer
from tests.stepping import run_step

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = Path(__file__).resolve().parents[3]


def slot_take(lease, endpoint: str, limit: int) -> bool:
    """Takes one slot at an endpoint with this limit."""
    return bool(slots_take(lease, {endpoint: 1}, {endpoint: limit})[endpoint])


@pytest.fixture
def narrow(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """The server under a second name, which takes two calls at once."""
    monkeypatch.setenv("WIGGUM_ENDPOINTS", endpoint_of(scene.server, "narrow", 2))
    scene.server.replies = valid_replies(5.0)
    return scene


def launch(scene: Scene, count: int, rounds: int = 2) -> list[Run]:
    return [scene.launch(rubric(rounds), **targets("narrow")) for _ in range(count)]


def begin_with_two(scene: Scene) -> None:
    """The first call waits for a second, and all take long enough for a third to be noticed."""
    scene.server.replies = delayed(lambda _: len(scene.server.chats) >= 2, valid_replies(5.0))
    scene.server.latency = 0.05


def most_at_once(server: LoopbackServer) -> int:
    """The largest number of chats that were under way together."""
    moments = [(entry.started, 1) for entry in server.chats]
    moments += [(entry.finished or entry.aborted, -1) for entry in server.chats]
    under_way = most = 0
    for _, change in sorted(moments):
        under_way += change
        most = max(most, under_way)
    return most


@contextmanager
def worker_processes(count: int) -> Iterator[None]:
    """Workers of their own, on the database of this test."""
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        address = f"sqlite:///{settings['NAME']}"
    else:
        who = f"{quote(settings['USER'])}:{quote(settings['PASSWORD'])}"
        address = f"postgres://{who}@{settings['HOST']}:{settings['PORT'] or 5432}/{settings['NAME']}"
    started = [
        subprocess.Popen(
            [sys.executable, "manage.py", "worker", "--threads", "6"],
            cwd=ROOT,
            env={**os.environ, "DJANGO_SETTINGS_MODULE": "wiggum_site.settings", "DATABASE_URL": address},
            stderr=subprocess.DEVNULL,
        )
        for _ in range(count)
    ]
    try:
        yield
    finally:
        for process in started:
            process.terminate()
        for process in started:
            assert process.wait(20) == 0


def assert_all_ended(scene: Scene, runs: list[Run]) -> None:
    ended = Run.objects.filter(pk__in=[run.pk for run in runs], status="finished", stop_reason="max_rounds")
    scene.server.wait_for(lambda: ended.count() == len(runs), 60)
    for run in ended:
        assert (run.rounds_judged, run.calls_made, run.calls.count()) == (2, 3, 3)
    assert scene.asked() == 3 * len(runs)


def test_many_threads_never_ask_more_than_the_limit_at_once(narrow: Scene):
    begin_with_two(narrow)
    runs = launch(narrow, 8)
    with worker_threads(8):
        assert_all_ended(narrow, runs)
    assert most_at_once(narrow.server) == 2


def test_nor_do_two_processes(narrow: Scene):
    begin_with_two(narrow)
    runs = launch(narrow, 8)
    with worker_processes(2):
        assert_all_ended(narrow, runs)
    assert most_at_once(narrow.server) == 2


def test_places_are_counted_and_taken_in_one(narrow: Scene):
    runs = launch(narrow, 6)
    leases = [lease_take(Run, run.pk, f"worker {run.pk}") for run in runs]
    taken = at_once(*[lambda lease=lease: slot_take(lease, "narrow", 2) for lease in leases])
    assert sorted(taken) == [False] * 4 + [True] * 2
    assert Run.objects.filter(calling={"narrow": 1}).count() == 2


def test_a_place_is_free_again_when_its_holder_lets_go_or_is_lost(narrow: Scene):
    lost, paused, patient = launch(narrow, 3)
    for run in (lost, paused):
        assert slot_take(lease_take(Run, run.pk, "a worker"), "narrow", 2)
    waiting = lease_take(Run, patient.pk, "another")
    assert not slot_take(waiting, "narrow", 2)
    run_pause(run=paused)
    assert slot_take(waiting, "narrow", 2)
    assert not slot_take(waiting, "narrow", 1)
    Run.objects.filter(pk=lost.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert slot_take(waiting, "narrow", 1)


def test_other_endpoints_are_not_counted(narrow: Scene):
    here, there = launch(narrow, 2)
    assert slot_take(lease_take(Run, here.pk, "a worker"), "ollama", 1)
    assert slot_take(lease_take(Run, there.pk, "a worker"), "narrow", 1)


def waiting_for_a_place(scene: Scene, count: int) -> list[Run]:
    """Runs that found every place taken."""
    runs = launch(scene, count + 2)
    for run in runs[:2]:
        assert slot_take(lease_take(Run, run.pk, "somebody"), "narrow", 2)
    for run in runs[2:]:
        result = run_step(run.pk)
        assert result is not None
        assert result.reason == "no free slot at narrow"
        run.refresh_from_db()
        assert (run.status, run.waiting_for) == ("waiting", "a free slot at narrow")
        assert run.next_try_at > timezone.now()
    assert scene.asked() == 0
    QueuedMessage.objects.all().delete()
    return runs[2:]


def test_a_place_that_gets_free_is_offered_to_the_first_who_waits(narrow: Scene):
    first, second = waiting_for_a_place(narrow, 2)
    Run.objects.filter(waiting_for="").update(status="paused")
    slot_offer("narrow")
    assert (messages(first), messages(second)) == (1, 0)
    assert run_step(first.pk).tokens > 0
    assert messages(second) == 1, "the step's end offers its place to the next"
    assert run_step(second.pk).tokens > 0
    assert narrow.asked() == 2


def test_no_run_is_sent_for_twice_when_places_get_free_at_once(narrow: Scene):
    first, second = waiting_for_a_place(narrow, 2)
    far = timezone.now() + timedelta(minutes=1)
    Run.objects.filter(pk__in=[first.pk, second.pk]).update(next_try_at=far)
    assert at_once(*[lambda: slot_offer("narrow")] * 3) == [None] * 3
    first.refresh_from_db()
    assert first.next_try_at <= timezone.now()
    assert (messages(first), messages(second)) in [(1, 0), (1, 1)]


def test_who_waits_for_the_server_itself_is_offered_nothing(narrow: Scene):
    (run,) = waiting_for_a_place(narrow, 1)
    Run.objects.filter(pk=run.pk).update(waiting_for="The server cannot be reached.")
    slot_offer("narrow")
    assert messages(run) == 0


def test_an_endpoint_without_a_limit_has_no_places_to_offer(narrow: Scene, django_assert_num_queries):
    with django_assert_num_queries(0):
        slot_offer("ollama")
