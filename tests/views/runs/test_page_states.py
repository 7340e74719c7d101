"""Every way in which a run ends, waits or fails, on its page."""

from dataclasses import replace

import pytest

from refinement.engine.codec import rubric_with
from refinement.engine.profiles import rubric_for
from refinement.execution import advancing
from refinement.models import Run
from refinement.providers.registry import Target
from refinement.services.runs.lifecycle import run_cancel, run_pause
from tests.execution.wire.stage import drafts, verdict
from tests.execution.wire.test_faults import one_step
from tests.execution.wire.test_profiles_on_the_wire import changed, with_words, word_rubric
from tests.loopback.faults import Fault
from tests.loopback.replies import Answer

pytestmark = pytest.mark.django_db
WIGGUM = rubric_for("wiggum")
SEED = "# A seed to be judged."


def page(client, run):
    answer = client.get(f"/p/{run.project.slug}/runs/{run.pk}/")
    assert answer.status_code == 200
    return answer.content.decode()


def scored(rubric, scores):
    return [verdict(rubric, score, issues=[f"issue {n}"]) for n, score in enumerate(scores)]


JUDGED = [
    ((9.5,), "passed", "9.50 reaches the pass mark of 9.0"),
    ((7, 8, 8.5), "max_rounds", "reached the 3-round limit, 0.50 below the pass mark"),
    ((6.5, 6.5), "cycling", "all scores are the same as in round 1"),
]


@pytest.mark.parametrize(("scores", "reason", "words"), JUDGED, ids=[row[1] for row in JUDGED])
def test_wiggum_s_reasons(as_viewer, stage, scores, reason, words):
    stage.says(judge=scored(WIGGUM, scores), producer=drafts(3))
    run = stage.play(WIGGUM)
    assert run.stop_reason == reason
    assert words in page(as_viewer, run)


CHECKED = [
    ((1.0,), "perfect_score", "is a perfect score"),
    ((0.4, 0.8), "quality_threshold_met", "reaches the pass mark"),
    ((0.6, 0.3), "score_regression", "the score fell from"),
    ((0.6, 0.6), "no_improvement", "is below the minimum"),
    ((0.3, 0.5, 0.7), "max_iterations_reached", "reached the 3-round limit"),
]


@pytest.mark.parametrize(("shares", "reason", "words"), CHECKED, ids=[row[1] for row in CHECKED])
def test_ralph_s_reasons(as_viewer, stage, shares, reason, words):
    stage.says(producer=[with_words(share) for share in shares])
    run = stage.play(word_rubric())
    assert run.stop_reason == reason
    text = page(as_viewer, run)
    assert words in text
    assert "the weighted share of checks passed" in text


def test_a_plateau(as_viewer, stage):
    rubric = changed("simmer", max_rounds="6", stop_rules="max_rounds, plateau", on_plateau="stop")
    stage.says(judge=scored(rubric, (8, 7, 6, 7, 6, 5)), producer=drafts(6))
    run = stage.play(rubric)
    assert run.stop_reason == "plateau"
    text = page(as_viewer, run)
    assert "none of the last 3 rounds is better than round 1" in text
    assert "Round 1" in text


@pytest.mark.parametrize(("budget", "unit"), [("tokens", "token"), ("calls", "call"), ("seconds", "second")])
def test_a_budget(as_viewer, stage, budget, unit):
    rubric = rubric_with(WIGGUM, {f"policy.budget.{budget}": "0.001" if budget == "seconds" else "1"})
    stage.says(judge=scored(rubric, (5, 6, 7)), producer=drafts(3))
    run = stage.play(rubric)
    assert run.stop_reason == f"budget_{budget}"
    text = page(as_viewer, run)
    assert f"{unit}" in run.why
    assert "is used up" in text
    assert f"Budget of {budget}" in text


# fault, the words of the sentence, the word for the kind of error
FAULTS = [
    (Fault("drop"), "cannot be reached", "server unreachable"),
    (Fault("hang"), "within 0.4 seconds", "timed out"),
    (Fault("unknown_model"), "ollama pull", "model not found"),
    (Fault("context_exceeded"), "9031 tokens", "prompt too long for the model"),
    (Fault("status", status=401), "refused the request", "rejected by the server"),
    (Fault("error_object"), "llama runner process has terminated", "invalid reply"),
]


@pytest.mark.parametrize("role", ["judge", "producer"])
@pytest.mark.parametrize(("fault", "words", "kind"), FAULTS, ids=[row[0].kind for row in FAULTS])
def test_an_endpoint_that_fails(as_viewer, stage, fault, words, kind, role):
    stage.server.faults = [replace(fault, seen=0)]
    run = stage.launch(WIGGUM, seed=SEED if role == "judge" else "")
    one_step(run, deadline_seconds=0.4 if fault.kind == "hang" else 60)
    text = page(as_viewer, run)
    assert words in text
    if run.status == "waiting":
        assert "Waiting" in text
        assert "Waiting for a model server." in text
        assert "next try at" in text
    else:
        assert "ERROR" in text
        assert f"{'writer' if role == 'producer' else role} failed" in text
        assert "Retry to continue from the last completed step." in text
    calls = as_viewer.get(f"/p/{run.project.slug}/runs/{run.pk}/calls/").content.decode()
    assert kind in calls


def test_queued_running_and_paused(as_viewer, as_editor, stage):
    run = stage.launch(WIGGUM, seed=SEED)
    assert "<b>RUNNING</b>" in page(as_viewer, run)
    assert "<dt>Time</dt>" not in page(as_viewer, run), "the clock is in the part that moves"
    Run.objects.filter(pk=run.pk).update(status="queued")
    assert "Starts when a worker is free" in page(as_viewer, run)
    run_pause(run=run)
    text = page(as_editor, run)
    assert "Paused. Resume it to continue." in text
    assert ">Resume</button>" in text


def test_cancelled(as_viewer, stage, owner):
    run = stage.launch(WIGGUM, seed=SEED)
    run_cancel(run=run, user=owner)
    text = page(as_viewer, run)
    assert "STOPPED" in text
    assert "Stopped by Olivia Owner before any round was judged." in text
    assert "Unscored." in text


def test_unscored_is_not_zero(as_viewer, stage):
    stage.says(judge=["nothing"] * 3)
    run = stage.play(WIGGUM, seed=SEED)
    text = page(as_viewer, run)
    assert "The judge did not return valid scores (3 tries)." in text
    assert f'/runs/{run.pk}/calls/?round=1">View its replies</a>.' in text
    assert "Return only" not in text, "the repair prompt is for the judge"
    assert "Unscored is not zero" in text
    assert "unscored" in text


def test_a_candidate_that_was_cut_off(as_viewer, stage):
    stage.says(judge=scored(WIGGUM, (9.5,)), producer=[Answer("# Half a text", finish_reason="length")])
    text = page(as_viewer, stage.play(WIGGUM))
    assert "reached its length limit, so the text is cut off" in text


@pytest.mark.parametrize(
    ("producer", "words"),
    [("loopback:8b", "Writer and judge are the same model."), ("loopback:1b", "are of the same family.")],
)
def test_a_judge_of_its_own_kind(as_viewer, stage, producer, words):
    stage.says(judge=scored(WIGGUM, (9.5,)))
    run = stage.play(
        WIGGUM, seed=SEED, producer=Target("ollama", producer), judge=Target("ollama", "loopback:8b")
    )
    text = page(as_viewer, run)
    assert words in text
    assert "about 0.9 of 10 points" in text


def test_an_internal_error(as_viewer, stage, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("unforeseen")

    run = stage.launch(WIGGUM, seed=SEED)
    Run.objects.filter(pk=run.pk).update(status="queued", step_failures=advancing.MAX_ERRORS - 1)
    monkeypatch.setattr(advancing, "run_loop", broken)
    advancing.run_advance(run.pk)
    run.refresh_from_db()
    assert run.stop_reason == "internal_error"
    text = page(as_viewer, run)
    assert "internal error" in text
    assert "times with an unexpected error" in text
