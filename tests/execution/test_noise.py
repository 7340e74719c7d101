"""Runs with a noisy judge: scores that move on the same text, and gains within the noise."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.types import MinimumGain, StopReason
from refinement.execution.foreground import run_in_foreground
from refinement.execution.steps.step import StepOptions
from refinement.models import JudgeRecord, Run
from refinement.providers.registry import Target
from refinement.selectors.rubrics.definitions import definition_of, version_named
from refinement.selectors.runs.history import brief_of, history_of
from refinement.services.rubrics.editing import default_rubrics_install
from refinement.services.runs.creating import run_create
from refinement.services.trust.judges import judge_ensure
from tests.loopback.fixtures import ollama_server
from tests.loopback.replies import from_lists

__all__ = ["ollama_server"]
pytestmark = pytest.mark.django_db(transaction=True)
KEYS = ("depth", "relevance", "completeness", "grounded", "specificity", "structure")
TARGET = Target("ollama", "loopback:8b")
TEXT = "# A heading\n\nThe same words in every round."


@pytest.fixture
def wandering(ollama_server, monkeypatch):
    """A writer that repeats its text, and a judge that scores it differently each time."""

    def answer(scores, texts):
        said = [json.dumps({**dict.fromkeys(KEYS, score), "issues": ["x"]}) for score in scores]
        ollama_server.replies = from_lists({"judge": said, "producer": texts})
        return ollama_server

    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    return answer


@pytest.fixture
def version(project):
    default_rubrics_install(project=project)
    return version_named(project, "wiggum")


def finished(project, version, **policy):
    base = definition_of(version)
    run = run_create(
        project=project,
        version=version,
        definition=replace(base, policy=replace(base.policy, pass_threshold=Decimal(10), **policy)),
        task="t",
        seed=TEXT,
        producer=TARGET,
        judge=TARGET,
    )
    run_in_foreground(run.pk, StepOptions(), print)
    return Run.objects.get(pk=run.pk)


def signals(run):
    return [row.signals for row in run.rounds.order_by("number")]


def moved(by):
    return {"kind": "same_text", "from_round": 1, "moved": by, "candidate_change": "0.0000"}


def test_a_score_that_moves_on_the_same_text_is_flagged(project, version, wandering):
    wandering([6.25, 9.72, 8], [TEXT, TEXT])
    run = finished(project, version, max_rounds=3)
    assert (run.improvement, run.same_text_moved) == (Decimal("1.75"), Decimal("3.47"))
    first, second, third = signals(run)
    assert first == []
    assert second == [
        {"kind": "same_text", "from_round": 1, "moved": "3.470000", "candidate_change": "0.0000"}
    ]
    assert third == [
        {"kind": "same_text", "from_round": 1, "moved": "1.750000", "candidate_change": "0.0000"}
    ]
    assert run.signal_rounds == 0


def test_a_text_that_changes_is_not_flagged(project, version, wandering):
    wandering([6, 7, 8], ["# One\n\nQuite another text.", "# Two\n\nAnd a third one that differs."])
    run = finished(project, version, max_rounds=3)
    assert "same_text" not in [signal["kind"] for row in signals(run) for signal in row]
    assert run.same_text_moved is None


def test_unchanged_ends_a_run_whose_text_stays(project, version, wandering):
    wandering([6.25, 9.72], [TEXT])
    run = finished(project, version, max_rounds=9, stop_rules=(StopReason.PASSED, StopReason.UNCHANGED))
    assert (run.stop_reason, run.rounds_judged) == ("unchanged", 2)
    assert run.why == "Stopped after round 2: the writer returned the same text as in round 1."


def test_a_worker_that_takes_over_knows_the_text_before(project, version, wandering):
    wandering([6, 9, 7, 8], [TEXT, "# New\n\nA text of its own.", "# New\n\nA text of its own."])
    run = finished(project, version, max_rounds=4)
    loaded = history_of(run, brief_of(run).rubric)
    assert [bool(entry.candidate) for entry in loaded.rounds] == [True, True, True, True]
    assert signals(run)[3][0]["moved"] == "1.000000"


def test_a_runs_judge_and_its_noise_are_kept_at_the_launch(project, version, wandering):
    wandering([6, 6.4], ["# Other\n\nWords that were not there."])
    record = judge_ensure(project=project, version=version, model=TARGET.model)
    JudgeRecord.objects.filter(pk=record.pk).update(smallest_difference=0.5)
    run = finished(
        project,
        version,
        max_rounds=9,
        minimum_gain=MinimumGain.NOISE,
        stop_rules=(StopReason.NO_IMPROVEMENT,),
    )
    assert (run.judge_record, run.smallest_difference) == (record, Decimal("0.5"))
    assert run.why == "Stopped after round 2: the gain of 0.40 is within the judge's noise of 0.50."
    JudgeRecord.objects.filter(pk=record.pk).update(smallest_difference=0.1)
    assert Run.objects.get(pk=run.pk).smallest_difference == Decimal("0.5")


def test_a_judge_is_recorded_with_its_first_run(project, version, wandering):
    wandering([6], [])
    run = finished(project, version, max_rounds=1)
    assert (run.judge_record.key, run.judge_record.rubric_version) == (TARGET.model, version)
    assert run.smallest_difference is None
