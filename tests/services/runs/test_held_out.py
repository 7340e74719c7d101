"""The held-out judge: called once at the end, unknown to the loop, and its finding about the gain."""

from dataclasses import replace
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.db import transaction

from refinement.downloads import report
from refinement.engine.codec import rubric_from_json
from refinement.engine.profiles import rubric_for
from refinement.execution.trials.advancing import trial_advance
from refinement.execution.waking import sweep
from refinement.models import BenchCall, BenchTrial, JudgeRecord, Measurement, QueuedMessage, Run
from refinement.providers.registry import Target
from refinement.selectors.runs.held_out import held_out_of
from refinement.selectors.runs.watch import watch_of
from refinement.services.runs.held_out import held_out_start, held_outs_sweep
from refinement.services.runs.lifecycle import run_continue, run_rerun
from refinement.services.trust.measurements.dealing import measurement_advance
from tests.execution.trials.conftest import table
from tests.execution.trials.given import JUDGE as KILLED
from tests.execution.trials.given import Table
from tests.execution.trials.test_durability import killed_worker, long_ago
from tests.execution.wire.conftest import stage
from tests.execution.wire.stage import JUDGE, drafts, texts, verdict
from tests.loopback.fixtures import ollama_server
from tests.services.trust.measurements.given import carried_out, trials_of
from tests.views.runs.finished import finished_run

__all__ = ["ollama_server", "stage", "table"]
pytestmark = pytest.mark.django_db

OTHER = Target("ollama", "loopback:70b")
CANARY = "canary-held-out"


def rubric_of(rounds=2):
    rubric = rubric_for("wiggum")
    return replace(rubric, policy=replace(rubric.policy, max_rounds=rounds))


def played(stage, scores=(5, 8), held_out=OTHER, **more):
    rubric = rubric_of(len(scores))
    stage.says(judge=[verdict(rubric, score) for score in scores], producer=drafts(len(scores)))
    return stage.play(rubric, held_out=held_out, **more)


def answered(stage, run, *scores) -> Measurement:
    """The held-out judge's verdicts on the first and the best round."""
    rubric = rubric_of()
    stage.server.models = ("loopback:1b", "loopback:8b", OTHER.model)
    said = [verdict(rubric, score, reasoning=CANARY, issues=[CANARY], asi=CANARY) for score in scores]
    stage.says(judge=said, producer=drafts(9))
    return carried_out(Measurement.objects.get(run=run))


def found(run):
    return held_out_of(run, rubric_from_json(run.snapshot))


def test_it_is_asked_about_the_first_and_the_best_round_when_the_run_ends(stage):
    run = played(stage, (5, 8, 6))
    measurement = Measurement.objects.get()
    assert (measurement.run, measurement.kind, measurement.model) == (run, "held_out", "loopback:70b")
    rounds = measurement.items.order_by("position").values_list("round__number", "bench__candidate")
    assert list(rounds) == [(n, run.rounds.get(number=n).candidate) for n in (1, 2)]
    assert not measurement.is_draft
    assert found(run).waiting


@pytest.mark.parametrize(
    ("scores", "finding", "words"),
    [
        ((5, 7), "confirms", "The held-out judge confirms the gain: 5.00 → 7.00 from round 1 to round 2."),
        ((7, 7.1), "no_gain", "The held-out judge sees no gain: 7.00 → 7.10 from round 1 to round 2."),
        ((7, 6), "lower", "The held-out judge sees a loss: 7.00 → 6.00 from round 1 to round 2."),
    ],
)
def test_what_it_says_of_the_gain(stage, scores, finding, words):
    run = played(stage)
    answered(stage, run, *scores)
    told = found(run)
    assert (told.finding, told.sentence, told.waiting) == (finding, words, False)
    doubts = dict(watch_of(run, rubric_from_json(run.snapshot)).doubts)
    assert ("Held-out judge" in doubts) is (finding != "confirms")
    assert words in "".join(report(run))


def test_its_own_noise_decides_where_it_is_known(stage):
    run = played(stage)
    answered(stage, run, 5, 6)
    assert found(run).finding == "confirms"
    JudgeRecord.objects.filter(key="loopback:70b").update(smallest_difference=1.5)
    assert found(run).finding == "no_gain"


def test_the_loop_never_sees_its_words_or_scores(stage):
    run = played(stage)
    answered(stage, run, 4.25, 3.75)
    before = len(stage.server.chats)
    stage.says(judge=[verdict(rubric_of(), 8.5)], producer=drafts(9))
    run_continue(run=run, rounds=1)
    run = stage.carry_on(run)
    assert run.rounds_judged == 3
    asked = "\n".join(text for entry in stage.server.chats[before:] for text in texts(entry))
    assert asked
    assert CANARY not in asked
    assert "loopback:70b" not in asked
    assert "4.25" not in asked
    assert "3.75" not in asked
    assert CANARY in str(list(BenchTrial.objects.values_list("asi", flat=True)))  # it did say so


def test_the_held_out_judge_never_sees_the_loops_scores(stage):
    run = played(stage, (5.125, 8.375))
    before = len(stage.server.chats)
    answered(stage, run, 5, 7)
    asked = "\n".join(text for entry in stage.server.chats[before:] for text in texts(entry))
    assert run.rounds.get(number=2).candidate in asked
    assert "5.125" not in asked
    assert "8.375" not in asked
    assert "The restore is not explained." not in asked


def test_it_is_asked_once_however_often_the_end_is_announced(stage):
    run = played(stage)
    assert held_out_start(run) is None
    assert Measurement.objects.count() == 1


def test_it_is_created_with_the_runs_end_or_not_at_all(stage, monkeypatch):
    """A worker that is killed while it ends the run leaves neither."""
    monkeypatch.setattr("refinement.services.announcements.notice_run_ended", lambda *args, **more: 1 / 0)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        played(stage)
    assert not Run.objects.exclude(outcome="").exists()
    assert not Measurement.objects.exists()


def test_a_sweep_asks_it_where_it_could_not_be_asked(stage):
    run = played(stage)
    Measurement.objects.all().delete()
    assert held_outs_sweep() == 1
    assert Measurement.objects.get().run == run
    assert held_outs_sweep() == 0


def test_runs_without_a_gain_do_not_keep_others_waiting(stage, monkeypatch):
    run = played(stage)
    Measurement.objects.all().delete()
    for _ in range(3):
        played(stage, (8, 5))
    monkeypatch.setattr("refinement.services.runs.held_out.SWEPT_AT_ONCE", 1)
    assert held_outs_sweep() == 1
    assert Measurement.objects.get().run == run


def test_a_refusal_does_not_keep_the_run_from_ending(stage, monkeypatch):
    def refused(**values):
        raise ValidationError("The token budget of this project is used up.")

    monkeypatch.setattr("refinement.services.runs.held_out.measurement_create", refused)
    run = played(stage)
    assert run.outcome == "FAIL"
    assert "token budget" in found(run).problem


def test_nothing_to_compare_is_nothing_to_ask(stage):
    run = played(stage, (8, 5))
    assert run.best_round == 1
    assert not Measurement.objects.exists()
    assert "the best round is the first one" in found(run).problem
    assert held_outs_sweep() == 0


def test_more_rounds_with_another_best_one_are_asked_about_and_the_first_is_reused(stage):
    run = played(stage)
    answered(stage, run, 5, 7)
    stage.says(judge=[verdict(rubric_of(), 9)], producer=drafts(9)[5:])
    run_continue(run=run, rounds=1)
    run = stage.carry_on(run)
    assert run.best_round == 3
    measurement = answered(stage, run, 6)
    assert measurement.status == "finished"
    assert (found(run).first, found(run).best, found(run).best_round) == (Decimal(5), Decimal(6), 3)


def test_a_judge_of_the_loop_is_not_held_out(stage):
    with pytest.raises(ValidationError, match="judges in the loop"):
        stage.launch(rubric_of(), held_out=Target("ollama", JUDGE.model))
    assert not Run.objects.exists()


def test_a_rerun_has_it_too_and_a_run_without_one_asks_nothing(stage, django_assert_num_queries):
    run = played(stage)
    again = run_rerun(run=run)
    assert (again.held_out_endpoint, again.held_out_model) == ("ollama", "loopback:70b")
    plain = played(stage, held_out=None)
    with django_assert_num_queries(0):
        assert found(plain) is None
    with django_assert_num_queries(3):
        found(run)


@pytest.mark.django_db(transaction=True)
def test_after_kill_9_only_the_call_under_way_is_made_again(table: Table):
    run = finished_run(
        table.project, ["5", "8"], held_out_endpoint=KILLED.endpoint, held_out_model=KILLED.model
    )
    held_out_start(run)
    measurement = Measurement.objects.get()
    measurement_advance(measurement.pk)
    first, second = trials_of(measurement)
    table.says(6)
    trial_advance(first.pk)
    table.server.latency = 30
    killed_worker(second, table)
    table.server.latency = 0
    BenchTrial.objects.filter(pk=second.pk).update(lease_until=long_ago(), woken_at=long_ago())
    QueuedMessage.objects.all().delete()
    assert sweep().sent >= 1
    table.says(7)
    trial_advance(second.pk)
    carried_out(measurement)
    assert (found(run).first, found(run).best, found(run).waiting) == (Decimal(6), Decimal(7), False)
    assert [trial.attempt for trial in trials_of(measurement)] == [1, 2]
    assert BenchCall.objects.count() == 2
    assert held_out_start(run) is None
