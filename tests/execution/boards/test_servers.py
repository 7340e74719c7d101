"""A board's judges on several servers: their limits, and an unavailable server."""

import json
from collections.abc import Iterator

import pytest

from refinement.execution.advancing import run_advance
from refinement.models import Run
from refinement.providers.registry import Target
from tests.execution.boards.given import (
    Script,
    answers,
    board_rubric,
    by_step,
    calls_of,
    ended,
    most_at_once,
    panel,
    requests,
    speaker,
    speakers,
    together,
)
from tests.execution.lifecycle.given import Scene, kinds, now_due, worker_threads
from tests.execution.lifecycle.given import rubric as plain
from tests.loopback.faults import Fault
from tests.loopback.fixtures import forget_earlier_server
from tests.loopback.replies import valid_replies
from tests.loopback.server import LoopbackServer

ELSEWHERE = "elsewhere/loopback:8b"
NARROW = Target("narrow", "loopback:8b")


@pytest.fixture
def elsewhere(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    """A second model server, at an endpoint of this name."""
    with LoopbackServer() as server:
        forget_earlier_server(server.address)
        entry = {"name": "elsewhere", "kind": "ollama", "url": server.address}
        monkeypatch.setenv("WIGGUM_ENDPOINTS", json.dumps([entry]))
        yield server


@pytest.fixture
def narrow(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """The server under a second name, which takes one call at a time."""
    entry = {"name": "narrow", "kind": "ollama", "url": scene.server.address, "concurrency": 1}
    monkeypatch.setenv("WIGGUM_ENDPOINTS", json.dumps([entry]))
    return scene


# --- two endpoints ------------------------------------------------------------------------------
def test_judges_on_two_endpoints_are_one_board(scene: Scene, elsewhere: LoopbackServer):
    rubric = board_rubric(panel(3, Ben=ELSEWHERE))
    script = Script(rubric, {"Ada": [8], "Ben": [6], "Cleo": [3]}, stances={"Ben": [{0: 4, 1: 4, 2: 4}]})
    scene.server.replies = elsewhere.replies = script
    run = ended(scene.launch(rubric))
    assert (run.outcome, run.rounds.get().composite) == ("DONE", 4)
    assert speakers(scene.server, "score") == speakers(scene.server, "deliberate") == ["Ada", "Cleo"]
    assert speakers(elsewhere, "score") == speakers(elsewhere, "deliberate") == ["Ben"]
    assert requests(elsewhere, "merge") == []
    by_seat = {call.seat: (call.endpoint, call.model) for call in calls_of(run, "score")}
    assert by_seat[2] == ("elsewhere", "loopback:8b")
    assert by_seat[1] == by_seat[3] == ("ollama", "loopback:8b")
    assert run.other_contexts == {ELSEWHERE: run.judge_context}


def test_while_a_judges_server_is_away_the_run_waits_and_only_that_judge_is_asked_again(
    scene: Scene, elsewhere: LoopbackServer
):
    rubric = board_rubric(panel(3, Ben=ELSEWHERE))
    scene.server.replies = elsewhere.replies = Script(rubric, {"Ada": [8], "Ben": [6], "Cleo": [3]})
    elsewhere.go_offline()
    run = scene.launch(rubric)
    for tries in (1, 2):
        result = run_advance(run.pk)
        assert result is not None
        assert result.error == "unreachable"
        run.refresh_from_db()
        assert (run.status, run.waiting_endpoint, run.step_failures) == ("waiting", "elsewhere", tries)
        assert [row.seat for row in answers(run)] == [1, 3], "the verdicts that are in are kept"
        now_due(run)
    elsewhere.go_online()
    run = ended(run)
    assert (run.outcome, run.rounds.get().composite) == ("DONE", 6)
    assert speakers(scene.server, "score") == ["Ada", "Cleo"]
    assert speakers(elsewhere, "score") == ["Ben"]
    asked = [(call.attempt, call.error_kind) for call in calls_of(run, "score") if call.seat == 2]
    assert asked == [(1, "unreachable"), (2, "unreachable"), (3, "")]
    assert kinds(run).count("waiting") == 2


def test_two_judges_who_fail_at_once_are_both_recorded_and_both_asked_again(scene: Scene):
    rubric = board_rubric(panel(3))
    scene.server.replies = Script(rubric)
    scene.server.faults = [Fault("drop", nth=(1, 2), role="judge")]
    run = scene.launch(rubric)
    run_advance(run.pk)
    run.refresh_from_db()
    assert run.status == "waiting"
    assert len(answers(run)) == 1
    assert len([call for call in calls_of(run, "score") if call.error_kind]) == 2
    now_due(run)
    run = ended(run)
    assert run.outcome == "DONE"
    assert sorted(speakers(scene.server, "score")) == speakers(scene.server, "score")
    assert len(requests(scene.server, "score")) == 5
    assert run.calls_made == run.calls.count() == 9


def test_a_judge_that_never_completes_a_reply_is_left_out_in_the_end(scene: Scene):
    """A reply that ends in its middle is tried three times, like every judge's."""
    rubric = board_rubric(panel(3))
    scene.server.replies = Script(rubric, {"Ada": [8], "Ben": [6], "Cleo": [6]})
    scene.server.faults = [Fault("cut", nth=(1, 4, 5), role="judge")]
    run = scene.launch(rubric)
    for _ in range(2):
        run_advance(run.pk)
        now_due(run)
    run = ended(run)
    assert run.outcome == "DONE"
    (left_out,) = [row for row in answers(run) if row.problem]
    assert len([call for call in calls_of(run, "score") if call.seat == left_out.seat]) == 3


def test_a_clerk_whose_server_is_away_is_waited_for(scene: Scene, elsewhere: LoopbackServer):
    rubric = board_rubric(panel(2))
    scene.server.replies = elsewhere.replies = Script(rubric)
    elsewhere.go_offline()
    run = scene.launch(rubric, clerk=Target("elsewhere", "loopback:8b"))
    run_advance(run.pk)
    run.refresh_from_db()
    assert (run.status, run.waiting_endpoint, run.rounds_judged) == ("waiting", "elsewhere", 0)
    elsewhere.go_online()
    now_due(run)
    run = ended(run)
    assert run.rounds.get().summary["problem"] == ""
    assert len(scene.server.chats) == 4, "no judge is asked again"


# --- limits -------------------------------------------------------------------------------------
def test_on_an_endpoint_with_one_slot_the_judges_follow_each_other(narrow: Scene):
    rubric = board_rubric(panel(3, Ada="narrow/loopback:8b", Ben="narrow/loopback:8b"))
    narrow.server.replies, narrow.server.latency = together(2, narrow.server, Script(rubric)), 0.1
    run = narrow.launch(rubric)
    run_advance(run.pk, turn_over=lambda: False)
    run.refresh_from_db()
    assert (run.outcome, run.calling) == ("DONE", {})
    assert by_step(run) == [
        *((1, "score", seat) for seat in (1, 2, 3)),
        *((1, "deliberate", seat) for seat in (1, 2, 3)),
        (1, "merge", 0),
    ]
    for purpose in ("score", "deliberate"):
        limited = [entry for entry in requests(narrow.server, purpose) if speaker(entry.body) != "Cleo"]
        assert most_at_once(limited) == 1
        assert most_at_once(requests(narrow.server, purpose)) == 2, "Cleo's endpoint has no limit"


def test_a_board_waits_for_a_slot_and_keeps_what_it_has(narrow: Scene):
    rubric = board_rubric(panel(2, Ben="narrow/loopback:8b"))
    narrow.server.replies = Script(rubric)
    busy = narrow.launch(board_rubric(panel(2)))
    hold(busy, {"narrow": 1})
    run = narrow.launch(rubric)
    result = run_advance(run.pk)
    assert result is not None
    assert result.reason == "no free slot at narrow"
    run.refresh_from_db()
    assert (run.status, run.waiting_for, run.calling) == ("waiting", "a free slot at narrow", {})
    assert [row.seat for row in answers(run)] == [1]
    hold(busy, {})
    now_due(run)
    assert ended(run).outcome == "DONE"
    assert speakers(narrow.server, "score") == ["Ada", "Ben"]


def hold(run: Run, calling: dict[str, int]) -> None:
    """Another worker has the run and these slots."""
    Run.objects.filter(pk=run.pk).update(
        status="running", lease_owner="another", lease_until="2999-01-01T00:00Z", calling=calling
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("judges", ["board", "single"])
def test_other_runs_are_served_between_the_calls_of_a_long_one(narrow: Scene, judges):
    """The long run would take 20 calls at least. The short one needs three, and they take turns."""
    long = board_rubric(panel(3), rounds=3) if judges == "board" else plain(10)
    narrow.server.replies, narrow.server.latency = valid_replies(5.0), 0.05
    models = {"producer": NARROW, "judge": NARROW}
    first = narrow.launch(long, **models)
    with worker_threads(4):
        narrow.server.wait_for(lambda: len(narrow.server.chats) > 2)
        second = narrow.launch(plain(2), **models)
        ended = Run.objects.filter(status="finished")
        narrow.server.wait_for(lambda: ended.filter(pk=second.pk).exists())
        assert not ended.filter(pk=first.pk).exists()
        narrow.server.wait_for(lambda: ended.filter(pk=first.pk).exists())
    assert most_at_once(narrow.server.chats) == 1
    for run in ended:
        assert run.calls.count() == run.calls_made
    assert len(narrow.server.chats) == sum(run.calls_made for run in ended)


@pytest.mark.django_db(transaction=True)
def test_a_slot_is_free_as_soon_as_its_judge_has_answered(narrow: Scene):
    """Cleo takes her time elsewhere; Ben's slot is not kept for her."""
    rubric = board_rubric(panel(3, Ben="narrow/loopback:8b"))
    script = Script(rubric)
    narrow.server.replies = script
    narrow.server.faults = [Fault("slow_first_byte", nth=(1,), role="judge", seconds=3)]
    run = narrow.launch(rubric)
    with worker_threads(1):
        narrow.server.wait_for(lambda: len(answers(run)) == 2)
        run.refresh_from_db()
        slow = ({1, 2, 3} - {row.seat for row in answers(run)}).pop()
        assert run.status == "running"
        assert run.calling.get("narrow", 0) == (slow == 2)
        narrow.server.wait_for(lambda: Run.objects.get(pk=run.pk).status == "finished")
