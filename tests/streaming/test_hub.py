"""The poller behind all live pages: which events it sends, how often it queries, and when it does not."""

import asyncio
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from refinement.models import Event, LiveText, Run
from refinement.selectors.runs.live.page import TAIL_CHARS, Glance
from refinement.services.reviews.blind_readings import blind_reading_begin
from refinement.streaming import hub as hub_module
from refinement.streaming.frames import OPENING, frame
from refinement.streaming.hub import MOST_OF_ONE_PERSON, Hub
from refinement.streaming.looking import News, Wanted, collect_news, state_key
from refinement.streaming.watchers import MOST_WAITING, Watcher
from tests.event_loops import run_coroutine
from tests.views.rubrics.given import HOSTILE
from tests.views.runs.finished import finished_run


def glance(**changes: Any) -> Glance:
    given = {"status": "running", "attempt": 1, "next_try_at": None, "newest_event": 0}
    return Glance(**{**given, "first_piece": None, "last_piece": None, **changes})


def event(number: int, kind: str = "judged") -> dict[str, Any]:
    return {"id": number, "kind": kind, "at": "", "round": 1}


def watcher(run: int = 1, after: int = 0, user: int = 1) -> Watcher:
    return Watcher(run_id=run, user_id=user, project_id=1, session="s", after=after)


def heard(reader: Watcher) -> list[bytes]:
    found: list[bytes | None] = []
    while not reader.queue.empty():
        parts = reader.queue.get_nowait()
        found += [None] if parts is None else [part + b"\n\n" for part in parts.split(b"\n\n")[:-1]]
    return found


def test_events_come_once_and_in_order():
    reader = watcher(after=3)
    news = News(glance(newest_event=5), [event(3), event(4), event(5)])
    reader.send_news(news)
    reader.send_news(news)
    assert heard(reader) == [frame("event", event(4), 4), frame("event", event(5), 5)]


def test_a_text_begins_grows_and_goes():
    reader = watcher()
    reader.send_news(News(glance(first_piece=7, last_piece=8), pieces=[(7, "One "), (8, "two ")]))
    reader.send_news(
        News(glance(first_piece=7, last_piece=9), pieces=[(7, "One "), (8, "two "), (9, "three")])
    )
    reader.send_news(News(glance(first_piece=7, last_piece=9)))
    reader.send_news(News(glance()))
    reader.send_news(News(glance()))
    assert heard(reader) == [
        frame("text", {"text": "One two ", "begins": True}),
        frame("text", {"text": "three"}),
        frame("text", {"text": "", "begins": True}),
    ]


def test_whoever_scores_blind_is_told_to_go_and_nothing_else():
    reader, other = watcher(), Watcher(run_id=1, user_id=2, project_id=1, session="t", after=0)
    news = News(
        glance(newest_event=5, first_piece=7, last_piece=7), [event(5)], [(7, '{"score": 7.3519')], blind={1}
    )
    for each in (reader, other):
        each.send_news(news)
        each.send_news(news)
    assert heard(reader) == [frame("blind", {}), None]
    assert frame("event", event(5), 5) in heard(other)


def test_a_stream_that_stays_outlasts_its_run():
    stays = Watcher(run_id=1, user_id=1, project_id=1, session="s", after=5, stays=True)
    goes = watcher(after=5)
    over = News(glance(status="finished", newest_event=5))
    for each in (stays, goes):
        each.send_news(over)
    assert heard(goes) == [frame("done", {"status": "finished"}), None]
    assert heard(stays) == []
    stays.send_news(News(glance(status="finished", newest_event=6), [event(6, "scored")]))
    assert heard(stays) == [frame("event", event(6, "scored"), 6)]


@pytest.mark.django_db
def test_a_look_finds_who_reads_blind_where_there_is_something_to_tell(project, viewer):
    run = finished_run(project)
    blind_reading_begin(run=run, number=1, user=viewer)
    newest = run.events.order_by("-id").first().pk
    fresh = collect_news({run.pk: Wanted(after_event=0, after_piece=0, seen=frozenset())})[run.pk]
    assert fresh.blind == {viewer.pk}
    quiet = collect_news({run.pk: Wanted(newest, 0, frozenset({state_key(fresh.glance)}))})[run.pk]
    assert (quiet.events, quiet.blind) == ([], ())


def test_the_next_text_takes_the_place_of_the_one_before():
    reader = watcher()
    reader.send_news(News(glance(first_piece=7, last_piece=7), pieces=[(7, "Old.")]))
    reader.send_news(News(glance(first_piece=9, last_piece=9), pieces=[(9, "New.")]))
    assert heard(reader)[-1] == frame("text", {"text": "New.", "begins": True})


def test_of_a_long_text_the_end_is_sent():
    reader = watcher()
    reader.send_news(News(glance(first_piece=1, last_piece=1), pieces=[(1, "a" * TAIL_CHARS + "b")]))
    (sent,) = heard(reader)
    assert len(sent) < TAIL_CHARS + 100
    assert sent.rstrip().endswith(b'b","begins":true}')


def test_a_page_gets_the_verdict_so_far_as_html_whenever_it_changed():
    page = Watcher(run_id=1, user_id=1, project_id=1, session="s", after=0, html=True)
    script = watcher()
    looks = [((1, "{"), "<ol>1</ol>"), ((2, " "), "<ol>1</ol>"), ((3, '"'), "<ol>2</ol>")]
    for (number, text), reading in looks:
        news = News(glance(first_piece=1, last_piece=number), pieces=[(number, text)], reading=reading)
        page.send_news(news)
        script.send_news(news)
    assert [part for part in heard(page) if part.startswith(b"event: reading")] == [
        frame("reading", {"html": "<ol>1</ol>"}),
        frame("reading", {"html": "<ol>2</ol>"}),
    ]
    assert not [part for part in heard(script) if b"reading" in part]


@pytest.mark.django_db
@pytest.mark.parametrize(("step", "read"), [("judge", True), ("revise", False)])
def test_only_a_judges_reply_is_read_and_all_of_it_is_escaped(project, step, read):
    run = finished_run(project, status="running", outcome="", stop_reason="", finished_at=None, attempt=1)
    Run.objects.update(lease_owner="a worker")
    Event.objects.create(run=run, kind="claimed", actor="worker", data={"step": step, "round": 2})
    text = json.dumps({"criteria": {HOSTILE: {"reasoning": HOSTILE, "score": HOSTILE}}})
    first = LiveText.objects.create(run=run, attempt=1, position=0, text=text[:30])
    LiveText.objects.create(run=run, attempt=1, position=1, text=text[30:])
    for after, html in ((0, True), (first.pk, True), (0, False)):
        reading = collect_news({run.pk: Wanted(0, after, frozenset(), html=html)})[run.pk].reading
        assert bool(reading) == (read and html)
        assert set(re.findall(r"</?([a-z]+)", reading)) <= {"ol", "li", "p", "bdi", "b", "span"}


def test_a_finished_run_ends_the_stream_after_its_last_event():
    reader = watcher()
    reader.send_news(News(glance(status="finished", newest_event=2), [event(1)]))
    assert not reader.ended
    reader.send_news(News(glance(status="finished", newest_event=2), [event(2, "stopped")]))
    assert heard(reader)[-2:] == [frame("done", {"status": "finished"}), None]


def test_a_reader_that_does_not_keep_up_is_let_go():
    reader = watcher()
    for number in range(1, MOST_WAITING + 10):
        reader.send_news(News(glance(newest_event=number), [event(number)]))
    assert reader.ended
    assert reader.queue.qsize() == MOST_WAITING + 1


def test_no_text_can_end_a_frame():
    made = frame("text", {"text": "a\n\nevent: done\r\ndata: {}\u2028"})
    assert made.count(b"\n\n") == 1
    assert made.endswith(b"\n\n")


# --- the poller -----------------------------------------------------------------------------------
@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr(hub_module, "POLL_EVERY", 0.01)
    monkeypatch.setattr(hub_module, "AFTER_A_FAILURE", 0.01)
    monkeypatch.setattr(hub_module, "close_connection", lambda: None)


async def first_frames(hub: Hub, reader: Watcher, count: int) -> list[bytes]:
    found = []
    stream = hub.stream(reader)
    async for part in stream:
        found.append(part)
        if len(found) == count:
            break
    await stream.aclose()
    return found


def test_one_look_serves_everybody(hasty):
    looks: list[set[int]] = []

    def looking(wanted):
        looks.append(set(wanted))
        return {run: News(glance(newest_event=1), [event(1)]) for run in wanted}

    async def watch() -> list[list[bytes]]:
        hub = Hub(looking)
        readers = [watcher(run=number % 2, user=number) for number in range(50)]
        return await asyncio.gather(*(first_frames(hub, reader, 2) for reader in readers))

    for frames in run_coroutine(watch()):
        assert frames == [OPENING, frame("event", event(1), 1)]
    assert looks[0] == {0, 1}
    assert len(looks) < 5


def test_one_person_cannot_take_every_stream(hasty):
    async def watch() -> tuple[list[list[bytes]], bool, bool, int]:
        hub = Hub(lambda wanted: {run: News(glance()) for run in wanted})
        opened = [hub.stream(watcher()) for _ in range(MOST_OF_ONE_PERSON)]
        for stream in opened:
            await anext(stream)
        beyond = [await first_frames(hub, watcher(user=user), 1) for user in (1, 2)]
        full = hub.is_full_for(1), hub.is_full_for(2)
        for stream in opened:
            await stream.aclose()
        return beyond, *full, len(hub)

    beyond, full_for_one, full_for_another, left = run_coroutine(watch())
    assert beyond == [[], [OPENING]]
    assert (full_for_one, full_for_another, left) == (True, False, 0)


def test_nobody_watches_and_nothing_is_asked(hasty):
    looks = []

    async def watch() -> int:
        hub = Hub(lambda wanted: looks.append(1) or {1: News(glance(newest_event=1), [event(1)])})
        await first_frames(hub, watcher(), 2)
        async with asyncio.timeout(60):
            while len(asyncio.all_tasks()) > 1:  # without a task of its own nobody can ask
                await asyncio.sleep(0)
        looks.clear()
        await first_frames(hub, watcher(), 2)  # and it begins again
        return len(hub)

    assert run_coroutine(watch()) == 0
    assert looks


def test_a_database_that_was_away_is_asked_again(hasty):
    answers = iter([RuntimeError("away"), {1: News(glance(newest_event=1), [event(1)])}])

    def looking(wanted):
        answer = next(answers, {})
        if isinstance(answer, Exception):
            raise answer
        return answer

    frames = run_coroutine(first_frames(Hub(looking), watcher(), 2))
    assert frames[1] == frame("event", event(1), 1)


def test_a_run_that_is_gone_ends_its_streams(hasty):
    frames = run_coroutine(first_frames(Hub(lambda wanted: {}), watcher(), 3))
    assert frames == [OPENING, frame("gone", {})]


def test_silence_is_filled_with_signs_of_life(hasty, monkeypatch):
    monkeypatch.setattr(hub_module, "HEARTBEAT_EVERY", 0.02)
    frames = run_coroutine(first_frames(Hub(lambda wanted: {1: News(glance())}), watcher(), 3))
    assert frames == [OPENING, b": still here\n\n", b": still here\n\n"]


def test_a_stream_does_not_stay_open_for_ever(hasty, monkeypatch):
    monkeypatch.setattr(hub_module, "HEARTBEAT_EVERY", 0.02)
    monkeypatch.setattr(hub_module, "LONGEST", 0.1)
    frames = run_coroutine(first_frames(Hub(lambda wanted: {1: News(glance())}), watcher(), 1000))
    assert 1 < len(frames) < 20


def test_the_words_follow_how_the_run_stands(hasty):
    from refinement.selectors.runs.live.page import state_of

    row = {
        "status": "waiting", "why": "", "rounds_judged": 1, "max_rounds": 3,
        "prompt_tokens": 10, "completion_tokens": 5, "budget": None, "calls_made": 1,
        "started_at": None, "finished_at": None, "next_try_at": datetime(2026, 1, 1, tzinfo=UTC),
        "waiting_for": "It is away.", "newest_event": 0, "escalated_after": 0, "extended_after": 0,
        "newest_number": None, "newest_judged": None,
    }  # fmt: skip
    reader = watcher()
    reader.send_news(News(glance(status="waiting"), state=state_of(row, None)))
    reader.send_news(News(glance(status="waiting"), state=state_of(row, None)))
    (said,) = heard(reader)
    assert b"Waiting for a model server. It is away." in said
    assert b'"next_try":"2026-01-01T00:00:00+00:00"' in said


@pytest.mark.django_db
def test_a_page_gets_what_a_boards_judges_write_and_a_script_does_not(project):
    run = finished_run(project)
    Run.objects.filter(pk=run.pk).update(
        status="running", outcome="", stop_reason="", finished_at=None, attempt=4
    )
    said = '{"criteria": [{"key": "depth", "reasoning": "' + HOSTILE.replace('"', "'")
    piece = LiveText.objects.create(run=run, attempt=3, seat=2, position=0, text=said)
    needs = Wanted(after_event=0, after_piece=0, seen=frozenset(), html=True)
    news = collect_news({run.pk: needs})[run.pk]
    assert (news.pieces, list(news.judges)) == ([], [2])
    assert "Depth" in news.judges[2]
    assert "<script" not in news.judges[2]
    page, script = watcher(run.pk), watcher(run.pk)
    page.html = True
    for reader in (page, page, script):
        reader.send_news(news)
    assert [part for part in heard(page) if part and b"event: judges" in part] == [
        frame("judges", {"html": news.judges})
    ]
    assert not any(b"event: judges" in part for part in heard(script) if part)
    seen = replace(needs, after_judges=piece.pk)
    assert collect_news({run.pk: seen})[run.pk].judges == {}
