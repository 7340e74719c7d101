"""The stream of a run over a real socket, with a real server and worker."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from refinement.streaming.hub import MOST_OF_ONE_PERSON
from tests.house.processes import children, wait_for
from tests.loopback.replies import from_lists, valid_replies
from tests.loopback.server import LoopbackServer
from tests.prepared import prepared_copy
from tests.streaming.served import Reader, Served

TEXT = "".join(f"Sentence {number} of a long draft. " for number in range(60)).strip()
REMOVE = """
from refinement.models import Membership
print("told", Membership.objects.filter(user__email="{name}@example.org").delete()[0])
"""
SIGN_OUT = """
from django.contrib.sessions.models import Session
print("told", Session.objects.filter(session_key="{key}").delete()[0])
"""
REVOKE = """
from django.utils import timezone
from refinement.models import ApiToken
print("told", ApiToken.objects.update(revoked_at=timezone.now()))
"""
PAUSE = "from refinement.services.runs.lifecycle import run_pause; run_pause(run=run)"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    directory = prepared_copy(tmp_path_factory, "live")
    with LoopbackServer() as server:
        made = Served(directory, server)
        yield made
        made.clean_up()


@pytest.fixture(autouse=True)
def _fast_again(served: Served) -> Iterator[None]:
    yield
    served.server.chunks, served.server.chunk_delay, served.server.latency = 8, 0.0, 0.0
    served.server.replies = valid_replies()


def writing_slowly(served: Served) -> None:
    """A draft without an end, until the test lets it end; everything after it takes a moment."""
    judged = valid_replies()
    written = from_lists({"producer": [TEXT]}, cycle=True)
    served.server.replies = lambda asked: judged(asked) if asked.schema else written(asked)
    served.server.chunks, served.server.chunk_delay = 1_500, 0.1


def paused_run(served: Served) -> int:
    return served.launch(then=PAUSE)


def test_it_tells_all_of_a_run_in_order_and_ends_with_it(served: Served):
    writing_slowly(served)
    run = served.launch(rounds=1)
    reader = served.listen(run)
    reader.wait_for(lambda: reader.of("text"), "the first words of the draft")
    assert not [entry for entry in reader.of("event") if entry.data["kind"] == "drafted"]
    served.server.chunk_delay = 0.0
    reader.wait_for(reader.ended.is_set, "the end of the stream")

    numbers = [entry.number for entry in reader.of("event")]
    kinds = [entry.data["kind"] for entry in reader.of("event")]
    assert numbers == sorted(set(numbers))
    assert kinds == ["queued", "claimed", "drafted", "judged", "stopped"]
    assert reader.frames[-1].kind == "done"
    assert reader.of("state")[-1].data["status"] == "finished"
    words = [entry.data["words"] for entry in reader.of("state")]
    assert "Round 1: the writer is writing the first draft." in words


def test_the_text_comes_while_it_is_written_and_each_word_once(served: Served):
    writing_slowly(served)
    reader = served.listen(served.launch(rounds=1))
    reader.wait_for(lambda: len(reader.of("text")) > 3, "the text in pieces")
    served.server.chunk_delay = 0.0
    reader.wait_for(lambda: [e for e in reader.of("event") if e.data["kind"] == "drafted"], "the draft")
    first, *others = reader.of("text")
    pieces = [first, *(entry for entry in others if not entry.data.get("begins"))]
    assert first.data["begins"]
    assert len(pieces) > 3
    assert TEXT.startswith("".join(entry.data["text"] for entry in pieces))


def test_who_comes_later_gets_the_text_from_its_beginning(served: Served):
    writing_slowly(served)
    run = served.launch(rounds=1)
    early = served.listen(run)
    early.wait_for(lambda: len(early.of("text")) >= 3, "some text")
    late = served.listen(run, "edgar")
    late.wait_for(lambda: late.of("text"), "the text so far")
    heard = late.of("text")[0].data
    assert heard["begins"]
    assert heard["text"].startswith(early.of("text")[0].data["text"])
    served.server.chunk_delay = 0.0
    early.wait_for(early.ended.is_set, "the end")
    late.wait_for(late.ended.is_set, "the end")


def test_who_comes_back_hears_what_they_missed_and_nothing_twice(served: Served):
    run = served.launch(rounds=2)
    first = served.listen(run)
    first.wait_for(first.ended.is_set, "the end")
    events = first.of("event")
    middle = events[len(events) // 2].number
    assert middle is not None

    again = served.listen(run, after=middle)
    again.wait_for(again.ended.is_set, "the end of a stream of a finished run")
    assert [entry.number for entry in again.of("event")] == [
        entry.number for entry in events if entry.number > middle
    ]
    assert again.frames[-1].kind == "done"


def test_a_member_who_is_removed_hears_no_more(served: Served):
    run = paused_run(served)
    reader = served.listen(run, "edgar")
    other = served.listen(run)
    reader.wait_for(lambda: reader.of("state"), "the state")
    served.shell(REMOVE.format(name="edgar"))
    reader.wait_for(reader.ended.is_set, "the end")
    assert reader.frames[-1].kind == "gone"
    assert not other.ended.is_set()
    assert served.ask(f"/p/alpha/runs/{run}/events/", "edgar").status == 404
    other.hang_up()


def test_one_person_has_a_number_of_streams_and_others_have_theirs(served: Served):
    run = paused_run(served)
    readers = [served.listen(run) for _ in range(MOST_OF_ONE_PERSON)]
    try:
        for reader in readers:
            reader.wait_for(lambda reader=reader: reader.of("state"), "the state")
        refused = served.ask(f"/p/alpha/runs/{run}/events/")
        assert (refused.status, refused.getheader("Retry-After")) == (429, "30")
        assert refused.read() == b"You have too many live pages open. Close some of them, then try again."
        problem = served.ask(f"/api/v1/projects/alpha/runs/{run}/stream")
        assert (problem.status, problem.getheader("Retry-After")) == (429, "30")
        assert "open streams" in json.loads(problem.read())["detail"]
        other = served.listen(run, "vera")
        other.wait_for(lambda: other.of("state"), "the state")
        other.hang_up()
    finally:
        for reader in readers:
            reader.hang_up()
    wait_for(lambda: served.ask(f"/p/alpha/runs/{run}/events/").status == 200, "a free place")


def test_who_signs_out_hears_no_more(served: Served):
    reader = served.listen(paused_run(served), "vera")
    reader.wait_for(lambda: reader.of("state"), "the state")
    served.shell(SIGN_OUT.format(key=served.sessions["vera"]))
    reader.wait_for(reader.ended.is_set, "the end")
    assert reader.frames[-1].kind == "gone"


def test_a_script_hears_with_its_token_until_it_is_revoked(served: Served):
    run = paused_run(served)
    bearer = {"Cookie": "", "Authorization": f"Bearer {served.sessions['token']}"}
    answer = served.ask(f"/api/v1/projects/alpha/runs/{run}/stream", **bearer)
    assert answer.headers["Content-Type"] == "text/event-stream"
    assert "RateLimit-Remaining" in answer.headers
    reader = Reader(answer, served.connected)
    reader.wait_for(lambda: reader.of("state") and reader.of("event"), "the state and what happened")
    served.shell(REVOKE)
    reader.wait_for(reader.ended.is_set, "the end")
    assert reader.frames[-1].kind == "gone"
    assert served.ask(f"/api/v1/projects/alpha/runs/{run}/stream", **bearer).status == 401


def test_a_stranger_is_not_let_in(served: Served):
    run = paused_run(served)
    assert served.ask(f"/p/alpha/runs/{run}/events/", "otto").status == 404
    assert served.ask("/p/alpha/runs/999999/events/").status == 404


def test_what_carries_it_is_neither_kept_nor_held_up(served: Served):
    answer = served.ask(f"/p/alpha/runs/{paused_run(served)}/events/")
    assert answer.getheader("Content-Type") == "text/event-stream"
    assert answer.getheader("Cache-Control") == "no-store"
    assert answer.getheader("X-Accel-Buffering") == "no"
    answer.close()


def test_readers_that_leave_leave_nothing_behind(served: Served):
    run = paused_run(served)
    web = served.instance.child("granian")
    (serving,) = children(web)

    def threads() -> int:
        return int(re.search(r"Threads:\s+(\d+)", Path(f"/proc/{serving}/status").read_text())[1])

    def connections() -> int:
        opened = [entry.resolve().name for entry in Path(f"/proc/{serving}/fd").iterdir() if entry.exists()]
        return sum(name.endswith(".sqlite3") for name in opened)

    served.listen(run).hang_up()
    before = threads()
    readers = [served.listen(run) for _ in range(20)]
    for reader in readers:
        reader.wait_for(lambda reader=reader: reader.of("state"), "the state")
    # SQLite closes some files late, but far fewer than one for each reader.
    assert connections() < len(readers)
    for reader in readers:
        reader.hang_up()
    wait_for(lambda: threads() <= before + 2, "the threads of the readers to end")


def test_the_page_without_script_shows_the_step_and_loads_itself_again(served: Served):
    run = paused_run(served)
    page = served.ask(f"/p/alpha/runs/{run}/live/").read().decode()
    assert "Paused. Resume it to continue." in page
    assert '<meta http-equiv="refresh" content="4">' in page
    assert f'data-events="/p/alpha/runs/{run}/events/"' in page
