"""Metrics, failure patterns and output contracts in whole runs, with real commands in the sandbox."""

from dataclasses import replace

import pytest

from refinement.engine.profiles import context_rules_for, rubric_for
from refinement.engine.types import EvaluationMode, Evaluator, Handover, Metric, StopReason
from refinement.models import EvaluatorResult, Run
from refinement.selectors.runs.history import history_of
from tests.execution.wire.stage import composites, drafts, texts, verdict
from tests.sandboxed import needs_sandbox

pytestmark = pytest.mark.django_db
LENGTH = Metric("length", pattern=r"length=(\d+)")
LOSS = Metric("loss", pointer="/loss", lower_is_better=True)


def measured(script: str, *metrics: Metric, rounds: int = 2, **changes):
    """Rounds of Simmer's rubric for code, each measured by a line of shell."""
    base = rubric_for("simmer")
    evaluator = Evaluator(("/bin/sh", "-c", script), Handover.STDIN, metrics=metrics)
    return replace(
        base,
        context=context_rules_for("simmer", evaluator=True),
        policy=replace(base.policy, max_rounds=rounds, stop_rules=(StopReason.MAX_ROUNDS,)),
        evaluation_mode=EvaluationMode.RUNNABLE,
        evaluator=replace(evaluator, **changes),
    )


@pytest.fixture
def sandbox(settings):
    needs_sandbox()
    settings.COMMANDS = ["/bin/sh"]


@pytest.mark.usefixtures("sandbox")
def test_metrics_are_kept_shown_to_the_judge_and_part_of_the_history(stage):
    script = (
        'text=$(cat); echo length=${#text}; case "$text" in *"ion 1"*) ;; *) echo \'{"loss": 0.250}\';; esac'
    )
    rubric = measured(script, LENGTH, LOSS)
    stage.says(producer=["Version 1", "Version 2, longer"], judge=[verdict(rubric, 7), verdict(rubric, 8)])
    run = stage.play(rubric)
    rows = EvaluatorResult.objects.filter(round__run=run).order_by("round__number")
    assert [row.metrics for row in rows] == [
        {"length": ["9"], "loss": []},
        {"length": ["17"], "loss": ["0.250"]},
    ]
    asked = [texts(entry)[-1] for entry in stage.asked("judge")]
    assert "exit code 0\nmetrics: length 9, loss not found\nstdout:\nlength=9" in asked[0]
    history = asked[1].split("<<<HISTORY", 1)[1].split("<<<END HISTORY", 1)[0]
    assert "); length 9, loss not found; seed" in history
    again = history_of(Run.objects.get(pk=run.pk), rubric, whole=True)
    assert [str(entry.assessment.metrics["length"].value) for entry in again.rounds] == ["9", "17"]
    written = " ".join(text for entry in stage.asked("producer") for text in texts(entry))
    assert "length 9" not in written


@pytest.mark.usefixtures("sandbox")
def test_a_judge_that_does_not_see_the_output_does_not_see_its_metrics(stage):
    rubric = measured("echo length=4711", LENGTH)
    shown = rubric.context.judge - {"evaluator_output"}
    rubric = replace(rubric, context=replace(rubric.context, judge=shown))
    stage.says(producer=drafts(2), judge=[verdict(rubric, 7)] * 2)
    stage.play(rubric)
    asked = " ".join(text for entry in stage.asked("judge") for text in texts(entry))
    assert "HISTORY" in asked
    assert "4711" not in asked


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize(("lower_is_better", "best"), [(False, 2), (True, 3)])
def test_the_first_metric_breaks_a_tie_of_a_run(stage, lower_is_better, best):
    metric = replace(LENGTH, lower_is_better=lower_is_better)
    rubric = measured("text=$(cat); echo length=${#text}", metric, rounds=3)
    candidates = ["Version 1 of three", "Version 2, the longest one", "Version 3"]
    stage.says(producer=candidates, judge=[verdict(rubric, 7)] * 3)
    run = stage.play(rubric)
    assert (composites(run), run.best_round) == ([7, 7, 7], best)


@pytest.mark.usefixtures("sandbox")
def test_output_that_matches_a_failure_pattern_is_a_complete_failure(stage):
    script = "grep -q 'Version 1' && echo '0 passed, 10 failed' || echo '10 passed'"
    rubric = measured(script, failure_patterns=(r"\b0 passed\b",))
    stage.says(producer=drafts(2), judge=[verdict(rubric, 9, asi="Mend the import."), verdict(rubric, 6)])
    run = stage.play(rubric)
    assert composites(run) == [1, 6]
    failure = EvaluatorResult.objects.get(round__run=run, round__number=1).failure
    assert failure == "The output matches the failure pattern “\\b0 passed\\b”."
    assert "failed completely on this candidate" in texts(stage.asked("judge")[0])[-1]
    assert "it failed completely" in texts(stage.asked("producer")[1])[-1]


SCHEMA = {"type": "object", "required": ["total"], "properties": {"total": {"type": "integer"}}}


def contracted(profile: str = "simmer", rounds: int = 3, **contract):
    base = rubric_for(profile)
    policy = replace(base.policy, max_rounds=rounds, stop_rules=(StopReason.MAX_ROUNDS,))
    return replace(base, policy=policy, **contract)


def test_a_violated_schema_counts_least_is_recorded_and_told_whatever_the_judge_says(stage):
    rubric = contracted(output_contract="One JSON object.", output_schema=SCHEMA)
    candidates = ['{"sum": 6}', '{"total": 6}', "not JSON at all"]
    judge = [verdict(rubric, 9, asi="Name it total."), verdict(rubric, 2), verdict(rubric, 10)]
    stage.says(producer=candidates, judge=judge)
    run = stage.play(rubric)
    assert (composites(run), run.best_round) == ([1, 2, 1], 2)
    first, second, third = run.rounds.order_by("number")
    assert "'total' is a required property" in first.contract_violation
    assert "not valid JSON" in third.contract_violation
    assert [entry.contract_violated for entry in (first, second, third)] == [True, False, True]
    asked = texts(stage.asked("judge")[0])
    assert "CONTRACT VIOLATION" in asked[-1]
    assert "'total' is a required property" in asked[-1]
    assert "contract_violated" not in asked[0]
    told = texts(stage.asked("producer")[1])[-1]
    assert "This version violates the output contract." in told
    assert "'total' is a required property" in told
    assert "Name it total." in told
    again = history_of(Run.objects.get(pk=run.pk), rubric, whole=True)
    assert [entry.assessment.composite for entry in again.rounds] == [1, 2, 1]


def test_where_every_round_violates_the_contract_the_first_is_the_result(stage):
    rubric = contracted(rounds=2, output_pattern=r"^\{")
    stage.says(producer=drafts(2), judge=[verdict(rubric, 3), verdict(rubric, 9)])
    run = stage.play(rubric)
    assert (composites(run), run.best_round, run.outcome) == ([1, 1], 1, "DONE")


def test_no_check_lets_a_violated_contract_pass(stage):
    rubric = rubric_for("ralph")
    rubric = replace(rubric, criteria=(), output_pattern="never in it")
    stage.says(producer=["# A title\n\nLong enough a text. " * 40] * 3)
    run = stage.play(rubric)
    assert {float(entry.composite) for entry in run.rounds.all()} == {0}
    assert run.outcome == "FAIL"


def test_a_contract_in_prose_is_the_judges_to_decide(stage):
    rubric = contracted(rounds=2, output_contract="One table, nothing else.")
    said = verdict(rubric, 8, contract_violated=True, contract_reason="It is a list.")
    stage.says(producer=drafts(2), judge=[said, verdict(rubric, 5)])
    run = stage.play(rubric)
    assert (composites(run), run.best_round) == ([1, 5], 2)
    assert run.rounds.get(number=1).contract_violation == "It is a list."
    assert "contract_violated" in stage.asked("judge")[0].body["format"]["properties"]
    assert "violates the output contract. It is a list." in texts(stage.asked("producer")[1])[-1]
    again = history_of(Run.objects.get(pk=run.pk), rubric, whole=True)
    assert [entry.assessment.composite for entry in again.rounds] == [1, 5]
