"""A board on the bench: each judge scores alone, with its lens, on its own model."""

from dataclasses import replace

import pytest

from refinement.engine.panels import panel_for
from refinement.engine.types import JudgeMode, Judges, PanelJudge
from refinement.models import Bench, BenchTrial
from refinement.services.rubrics.bench import bench_cancel
from tests.execution.trials.given import Table, advance, definition, messages, statuses
from tests.loopback.replies import valid_replies

pytestmark = pytest.mark.django_db
PANEL = (
    PanelJudge("Reader", "You read it once, slowly."),
    PanelJudge("Expert", "You know the subject.", "ollama/loopback:1b"),
)


def board(mode=JudgeMode.BOARD, panel=PANEL, **more):
    return definition(judges=Judges(mode, panel), **more)


def started(table: Table, rubric=None, **more) -> Bench:
    table.rubric(rubric or board())
    return table.bench(**{"repeats": 2, **more})


def seats(bench: Bench) -> list[tuple[int, int]]:
    return list(bench.trials.order_by("number", "seat").values_list("number", "seat"))


def test_each_judge_has_a_trial_in_each_repeat(table: Table):
    bench = started(table)
    assert seats(bench) == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert [messages(trial) for trial in bench.trials.all()] == [1, 1, 1, 1]
    assert bench.trials_count == 4
    assert bench.panel == [
        {"name": "Reader", "lens": PANEL[0].lens, "endpoint": "ollama", "model": "loopback:8b"},
        {"name": "Expert", "lens": PANEL[1].lens, "endpoint": "ollama", "model": "loopback:1b"},
    ]


def test_judges_score_alone_with_their_lens_on_their_model(table: Table):
    bench = started(table)
    table.server.replies = valid_replies()
    advance(bench)
    assert (bench.status, statuses(bench)) == ("finished", ["done"] * 4)
    chats = table.server.chats
    assert [chat.body["model"] for chat in chats] == ["loopback:8b", "loopback:1b"] * 2
    texts = [chat.body["messages"][-1]["content"] for chat in chats]
    for text, own, other in ((texts[0], PANEL[0], PANEL[1]), (texts[1], PANEL[1], PANEL[0])):
        assert own.lens in text
        assert other.lens not in text
    assert texts[0] == texts[2], "repeats have the same prompt"


def test_each_model_has_its_own_window(table: Table):
    bench = started(table)
    table.server.replies = valid_replies()
    advance(bench)
    assert bench.context_tokens is None
    assert all(chat.body["options"]["num_ctx"] for chat in table.server.chats)


@pytest.mark.parametrize(
    ("rubric", "judges", "count"),
    [
        (board(), "", 2),
        (board(), "single", 0),
        (board(JudgeMode.SINGLE), "", 0),
        (board(JudgeMode.SINGLE), "board", 2),
        (board(JudgeMode.AUTO), "", 2),  # six criteria
        (replace(board(JudgeMode.AUTO), criteria=board().criteria[:2]), "", 0),  # and a short text
        (board(panel=(), artifact_type="code"), "", 3),  # the gallery's
    ],
)
def test_the_rubric_or_the_user_chooses(table: Table, rubric, judges, count):
    penalties = replace(rubric.policy.penalties, criterion=None)
    bench = started(table, replace(rubric, policy=replace(rubric.policy, penalties=penalties)), judges=judges)
    assert len(bench.panel) == count
    assert bench.trials.count() == 2 * max(1, count)


def test_without_a_panel_the_gallerys_is_used(table: Table):
    bench = started(table, board(panel=(), artifact_type="code"))
    assert [judge["name"] for judge in bench.panel] == [judge.name for judge in panel_for("code")]


def test_a_missing_endpoint_fails_its_judge_alone(table: Table):
    bench = started(table, board(panel=(PANEL[0], replace(PANEL[1], model="nowhere/x"))), repeats=1)
    table.server.replies = valid_replies()
    advance(bench)
    assert (bench.status, statuses(bench)) == ("finished", ["done", "failed"])
    assert "nowhere" in BenchTrial.objects.get(bench=bench, seat=2).error


def test_cancelling_ends_every_judges_trial(table: Table):
    bench = started(table)
    assert bench_cancel(bench=bench)
    assert statuses(bench) == ["cancelled"] * 4
