"""A running run in words."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.execution.events import event_record
from refinement.execution.leases import lease_take
from refinement.models import LiveText, Run
from refinement.selectors.runs.live.page import glances_at, live_states, text_under_way
from refinement.selectors.runs.live.steps import status_message
from refinement.services.runs.lifecycle import run_pause
from refinement.streaming.looking import Wanted, collect_news
from tests.execution.lifecycle.conftest import scene
from tests.execution.lifecycle.given import Scene, advance, rubric
from tests.loopback.fixtures import ollama_server

__all__ = ["ollama_server", "scene"]
ROW = {
    "status": "running",
    "lease_owner": "me",
    "waiting_for": "",
    "why": "",
    "repeats": None,
    "plateau_asked": False,
    "clerk": "",
    "judge_sees": [],
    "newest_number": 1,
    "newest_change": None,
    "newest_origin": "draft",
}


def ran(command: str = "evaluator", number: int = 1, **more: int) -> dict[str, object]:
    """The data of an event about a command of round 1."""
    return {"round": 1, "command": command, "number": number, **more}


@pytest.mark.parametrize(
    ("row", "event", "words"),
    [
        ({"status": "queued"}, None, "Queued."),
        ({}, None, "Started by a worker."),
        (
            {},
            ("claimed", {"step": "draft", "round": 1}),
            "Round 1: the writer is writing the first draft.",
        ),
        ({}, ("claimed", {"step": "judge", "round": 2}), "Round 2: the judge is answering."),
        ({}, ("claimed", {"step": "revise", "round": 3}), "Round 3: the writer is writing a revision."),
        ({}, ("drafted", {"round": 1}), "Round 1: the judge is answering."),
        ({}, ("revised", {"round": 2}), "Round 2: the judge is answering."),
        ({}, ("judged", {"round": 1}), "Round 2: the writer is writing a revision."),
        ({"lease_owner": ""}, ("judged", {"round": 1}), "Waiting for a free worker."),
        ({}, ("failed", {"role": "judge"}), "A step failed; the run is about to end."),
        ({}, ("unreadable", {"round": 1}), "was not valid, retrying."),
        ({}, ("evaluating", ran()), "Round 1: the evaluator is running."),
        ({"repeats": 5}, ("evaluating", ran(number=2)), "Round 1: the evaluator (2 of 5) is running."),
        ({}, ("evaluating", ran("validation")), "Round 1: the validation command is running."),
        ({}, ("evaluated", ran(exit_code=1)), "Round 1: the judge is answering."),
        ({}, ("evaluated", ran("validation", exit_code=1)), "the writer is repairing a text"),
        ({}, ("evaluated", ran("validation", number=2, exit_code=1)), "the judge is answering"),
        ({}, ("repaired", {"round": 1}), "Round 1: the judge is answering."),
        (
            {"status": "waiting", "waiting_for": "a free slot at lab"},
            None,
            "Waiting for a free slot at lab",
        ),
        (
            {"status": "waiting", "waiting_for": "It is away."},
            None,
            "Waiting for a model server. It is away.",
        ),
        ({"status": "paused"}, ("claimed", {"step": "judge", "round": 1}), "Paused."),
        ({"status": "finished", "why": "All done."}, None, "All done."),
    ],
)
def test_the_step_is_said_in_words(row, event, words):
    told = {"kind": event[0], "data": event[1]} if event else None
    assert words in status_message({**ROW, **row}, told)


@pytest.mark.django_db
def test_a_run_is_told_as_it_stands(scene: Scene):
    scene.says(5.0, 6.0)
    run = scene.launch(rubric(2))
    advance(run, steps=1)
    state = live_states([run.pk])[run.pk]
    assert (state.rounds_words, state.calls_words) == ("1 of 2 rounds judged", "1 call")
    assert (state.words, state.writer) == ("Waiting for a free worker.", "")
    assert state.newest_event == run.events.latest("id").pk


@pytest.mark.django_db
def test_only_pieces_of_the_current_attempt_count(scene: Scene):
    run = scene.launch()
    lease = lease_take(Run, run.pk, "a worker")
    LiveText.objects.create(run=run, attempt=lease.attempt - 1, position=0, text="Lost. ")
    first = LiveText.objects.create(run=run, attempt=lease.attempt, position=0, text="New ")
    last = LiveText.objects.create(run=run, attempt=lease.attempt, position=1, text="text.")
    seen = glances_at([run.pk])[run.pk]
    assert (seen.first_piece, seen.last_piece) == (first.pk, last.pk)
    assert text_under_way(Run.objects.get(pk=run.pk)) == "New text."


@pytest.mark.django_db
def test_one_query_where_nothing_is_new_however_many_are_watched(scene: Scene):
    runs = [scene.launch() for _ in range(4)]
    nothing = collect_news({run.pk: Wanted(0, 0, frozenset()) for run in runs})
    wanted = {
        pk: Wanted(
            news.glance.newest_event, 0, frozenset({(news.glance.status, None, news.glance.newest_event)})
        )
        for pk, news in nothing.items()
    }
    with CaptureQueriesContext(connection) as queries:
        found = collect_news(wanted)
    assert len(queries) == 1
    assert all(not news.events and not news.pieces and news.state is None for news in found.values())


@pytest.mark.django_db
def test_what_people_say_does_not_change_the_words_for_the_step(scene: Scene, editor):
    run = scene.launch()
    assert lease_take(Run, run.pk, "me") is not None
    event_record(run.pk, "claimed", actor="me", data={"step": "judge", "round": 1})
    words = live_states([run.pk])[run.pk].words
    event_record(run.pk, "commented", actor="Edgar", user=editor, data={"thread": 1})
    state = live_states([run.pk])[run.pk]
    assert state.words == words == "Round 1: the judge is answering."
    assert state.newest_event == run.events.last().pk


@pytest.mark.django_db
def test_what_is_new_costs_a_fixed_number_of_queries(scene: Scene):
    runs = [scene.launch() for _ in range(6)]
    for run in runs:
        run_pause(run=run)
    counts = []
    for watched in (runs[:1], runs):
        with CaptureQueriesContext(connection) as queries:
            found = collect_news({run.pk: Wanted(0, 0, frozenset()) for run in watched})
        counts.append(len(queries))
        assert [entry["kind"] for entry in found[runs[0].pk].events] == ["queued", "paused"]
    assert counts[0] == counts[1] == 6
