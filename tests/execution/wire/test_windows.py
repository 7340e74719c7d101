"""Context windows in whole runs: chosen once, kept, and the room they leave for a reply."""

import json

import pytest

from refinement.engine.profiles import rubric_for
from refinement.models import Run
from refinement.providers.registry import Target
from tests.execution.wire.stage import calls, composites, drafts, verdict
from tests.loopback.faults import Fault

RUBRIC = rubric_for("wiggum")
THIRD = Target("third", "loopback:8b")


@pytest.fixture
def third(stage, monkeypatch):
    """An endpoint that speaks OpenAI's protocol, beside the one that speaks Ollama's."""
    entry = {"name": "third", "kind": "openai_compatible", "url": f"{stage.server.address}/v1"}
    monkeypatch.setenv("WIGGUM_ENDPOINTS", json.dumps([entry]))
    return stage


def test_a_server_that_lists_no_models_is_asked_all_the_same(third):
    third.server.faults = [Fault("status", role="/v1/models", status=404, message="no such page")]
    third.says(judge=[verdict(RUBRIC, 9.5)], producer=drafts(1))
    run = third.play(RUBRIC, producer=THIRD, judge=THIRD)
    assert (run.outcome, composites(run), run.judge_context) == ("PASS", [9.5], None)
    assert [call.error_kind for call in calls(run)] == ["", ""]


def test_a_run_over_two_protocols(third):
    third.says(judge=[verdict(RUBRIC, 5), verdict(RUBRIC, 9.5)], producer=drafts(2))
    run = third.play(RUBRIC, judge=THIRD)
    assert (run.outcome, composites(run)) == ("PASS", [5, 9.5])
    assert {entry.protocol for entry in third.asked("judge")} == {"openai"}
    assert {entry.protocol for entry in third.asked("producer")} == {"ollama"}
    for entry in third.asked("judge"):
        assert entry.body["temperature"] == 0
        assert entry.body["response_format"]["json_schema"]["schema"]["required"] == [
            "criteria",
            "issues",
            "asi",
        ]
    judged = run.calls.filter(role="judge")
    assert all(call.cached_tokens == call.prompt_tokens // 2 > 0 for call in judged)


def test_a_small_model_gets_its_whole_length_and_a_shorter_reply(stage):
    stage.server.context_length = 3_000
    stage.says(judge=[verdict(RUBRIC, 9.5)], producer=drafts(1))
    run = stage.play(RUBRIC)
    assert (run.producer_context, run.judge_context) == (3_000, 3_000)
    options = [entry.body["options"] for entry in stage.server.chats]
    assert {entry["num_ctx"] for entry in options} == {3_000}
    assert 64 <= options[0]["num_predict"] < RUBRIC.policy.producer_tokens
    assert composites(run) == [9.5]


def test_the_window_stays_when_the_model_says_something_else_later(stage):
    stage.says(judge=[verdict(RUBRIC, score) for score in (5, 6, 7)], producer=drafts(3))
    run = stage.launch(RUBRIC)
    Run.objects.filter(pk=run.pk).update(judge_context=16_384)
    stage.carry_on(run)
    assert {entry.body["options"]["num_ctx"] for entry in stage.asked("judge")} == {16_384}
    shown = [entry for entry in stage.server.log if entry.path == "/api/show"]
    assert len(shown) == 1  # the producer's, once


def test_longer_texts_get_larger_windows(stage):
    windows = []
    for size in (100, 20_000):
        stage.says(judge=[verdict(RUBRIC, 9.5)])
        run = stage.play(RUBRIC, seed="# A seed.", task="word " * (size // 5))
        windows.append(run.judge_context)
    assert windows[0] < windows[1]
    assert all(window & (window - 1) == 0 for window in windows)  # a step of doubling sizes


def test_a_prompt_that_is_too_long_for_the_writer_says_what_helps_the_writer(stage):
    stage.server.context_length = 8_192
    stage.says(judge=[verdict(RUBRIC, 5)], producer=drafts(1))
    run = stage.play(RUBRIC, seed="word " * 10_000)
    assert (run.outcome, run.failure_role) == ("ERROR", "producer")
    assert "The writer's prompt takes about" in run.failure_message
    assert run.failure_message.endswith("or choose a writer with a longer context.")
    assert "judge" not in run.failure_message
