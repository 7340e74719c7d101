"""Several runs of one command: which one represents them, when they failed, and what is noise."""

from dataclasses import replace

import pytest

from refinement.engine.repeating import is_noise, middle_run, noisy_metrics, repeats_failure
from refinement.engine.types import Evaluator, EvaluatorOutput, Metric, MetricValue
from tests.engine.given import D, rubric

BROKEN = "The command ended with exit code 1 and wrote errors only."


@pytest.mark.parametrize(
    ("failed", "words"),
    [
        ([], ""),
        ([0, 0, 0], ""),
        ([1, 0, 0], ""),
        ([1, 0, 1, 0], ""),  # half of them is not most of them
        ([1, 0, 1], f"2 of 3 runs failed completely. {BROKEN}"),
        ([1, 1], f"2 of 2 runs failed completely. {BROKEN}"),
    ],
)
def test_most_runs_decide_whether_all_failed(failed, words):
    assert repeats_failure([BROKEN if each else "" for each in failed]) == words


def run(number=None, failure=""):
    metrics = {} if number is None else {"accuracy": MetricValue((D(number),))}
    return EvaluatorOutput("out", failure=failure, metrics=metrics)


@pytest.mark.parametrize(
    ("metric", "runs", "middle"),
    [
        (True, [run("3"), run("1"), run("2")], 2),
        (True, [run("4"), run("1"), run("3"), run("2")], 3),  # the lower one of two
        (True, [run(), run("1"), run("2")], 1),
        (True, [run(), run()], 0),
        (True, [run("9", BROKEN), run("1"), run("2")], 1),  # a failed run does not stand for two that did not
        (True, [run(failure=BROKEN), run("1"), run(failure=BROKEN)], 0),
        (False, [run(failure=BROKEN), run(), run()], 1),
        (False, [run(), run()], 0),
    ],
)
def test_the_run_in_the_middle_stands_for_all(metric, runs, middle):
    metrics = (Metric("accuracy", pattern="(.*)"),) if metric else ()
    of = replace(rubric("wiggum"), evaluator=Evaluator(("a",), metrics=metrics))
    assert middle_run(of, runs) == middle


@pytest.mark.parametrize(
    ("now", "before", "noise"),
    [
        (["0.80", "0.82", "0.84"], ["0.79", "0.80", "0.81"], True),  # 0.02 within 0.04
        (["0.80", "0.82", "0.84"], ["0.74", "0.78", "0.82"], True),  # 0.04 within 0.08
        (["0.80", "0.82", "0.84"], ["0.77", "0.78", "0.79"], True),  # exactly the spread
        (["0.90", "0.91", "0.92"], ["0.79", "0.80", "0.81"], False),
        (["0.70", "0.71", "0.72"], ["0.79", "0.80", "0.81"], False),  # a loss is judged alike
        (["0.81"], ["0.79", "0.80", "0.82"], True),
        (["0.81"], ["0.80"], False),  # without repeats, nothing is known about noise
        (["0.80"], ["0.80"], False),
    ],
)
def test_a_change_within_the_spread_is_noise(now, before, noise):
    values = [MetricValue(tuple(D(number) for number in numbers)) for numbers in (now, before)]
    assert is_noise(*values) is noise


def test_only_metrics_of_both_rounds_are_compared():
    near, far = MetricValue((D(1), D(2), D(3))), MetricValue((D(9), D(9), D(9)))
    assert noisy_metrics({"a": near, "b": far, "c": near}, {"a": near, "b": near}) == {"a"}


def test_the_first_failure_is_the_one_that_is_named():
    assert repeats_failure(["It broke.", "", "It timed out."]) == "2 of 3 runs failed completely. It broke."


def test_a_command_runs_at_most_twenty_times():
    assert Evaluator(("score",), repeat=20).repeat == 20
    with pytest.raises(ValueError, match="between 1 and 20 times"):
        Evaluator(("score",), repeat=21)
