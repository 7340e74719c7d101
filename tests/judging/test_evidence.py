"""What code reads from an evaluator's output: metrics by pattern or pointer, and failure patterns."""

import time
from decimal import Decimal

import pytest

from refinement.engine.artifacts import FAILURE_PATTERNS
from refinement.engine.types import Evaluator, EvaluatorOutput, Metric
from refinement.judging.evidence import pattern_problems, pointer_problems, read_output


def found(stdout: str, stderr: str = "", **metric: str) -> Decimal | None:
    """The metric in this output."""
    evaluator = Evaluator(("score",), metrics=(Metric("it", **metric),))
    return read_output(evaluator, EvaluatorOutput(stdout, stderr)).metrics.get("it")


ACCURACY = r"accuracy: (\S+)"


@pytest.mark.parametrize(
    ("stdout", "stderr", "number"),
    [
        ("accuracy: 0.5\naccuracy: 0.75\n", "", "0.75"),  # the last match wins
        ("accuracy: 0.5", "accuracy: 0.9", "0.5"),  # the standard output comes first
        ("started", "accuracy: -1e-3", "-0.001"),
        ("accuracy: 12", "", "12"),
        ("accuracy: 0.0", "", "0"),
        ("no figure", "", None),
        ("", "", None),
        ("accuracy: n/a", "", None),
        ("accuracy: nan", "", None),
        ("accuracy: Infinity", "", None),
        ("accuracy: 1e999999", "", None),
        ("accuracy: 1e-999999", "", None),
        (f"accuracy: {'9' * 60}", "", None),
        ("accuracy: 0.5\naccuracy: broken", "", None),  # not the number of an earlier match
    ],
)
def test_a_pattern_finds_the_last_number(stdout, stderr, number):
    assert found(stdout, stderr, pattern=ACCURACY) == (None if number is None else Decimal(number))


def test_a_pattern_can_name_the_ends_of_a_line():
    assert found("a 1\nb 2\nc 3", pattern=r"^b (\d)$") == 2


def test_a_group_that_took_no_part_is_not_found():
    assert found("none here", pattern=r"none(\d)?") is None


JSON = '{"a": {"b/c": [1, {"~": 2.50}], "t": true, "s": "3"}, "": 4}'


@pytest.mark.parametrize(
    ("pointer", "number"),
    [
        ("/a/b~1c/0", "1"),
        ("/a/b~1c/1/~0", "2.50"),
        ("/", "4"),
        ("/a/b~1c/2", None),
        ("/a/b~1c/-", None),
        ("/a/b~1c/00", None),
        ("/a/t", None),  # true is not 1
        ("/a/s", None),  # a text is not a number
        ("/a", None),
        ("/a/b~1c/0/x", None),
        ("/missing", None),
    ],
)
def test_a_pointer_reads_json(pointer, number):
    value = found(JSON, pointer=pointer)
    assert value == (None if number is None else Decimal(number))
    assert number is None or str(value) == number


@pytest.mark.parametrize(
    ("stdout", "number"),
    [
        ('loading\n{"x": 1}\n{"x": 2}\ndone\n', 2),  # the last object
        ('[INFO] start\n{\n  "y": {\n    "x": 7\n  },\n  "x": 3\n}\n', 3),
        ('{"x": 1}\n{"x": 2', 1),  # the last whole one
        ('said {"x": 9} in passing', None),  # only at the beginning of a line
        ('{"x": 1e999999}', None),
        ('{"x": NaN}', None),
        ("[" * 100_000, None),
        ('{"x":' * 50_000, None),
        ("", None),
    ],
)
def test_json_may_stand_among_other_lines(stdout, number):
    assert found(stdout, pointer="/x") == number


def test_what_cannot_be_found_is_left_out_and_the_others_are_there():
    metrics = (Metric("a", pattern=r"a=(\d)"), Metric("b", pattern=r"b=(\d)"), Metric("c", pattern=r"c=(\d)"))
    reading = read_output(Evaluator(("score",), metrics=metrics), EvaluatorOutput("a=1 c=3"))
    assert reading.metrics == {"a": 1, "c": 3}


def test_a_pattern_that_runs_away_finds_nothing_and_costs_little():
    metrics = (Metric("good", pattern=r"good=(\d)"), Metric("evil", pattern=r"^((?:a|aa)+)+0$"))
    evaluator = Evaluator(("score",), metrics=metrics, failure_patterns=("^(?:(?:a|aa)+)+1$",))
    began = time.monotonic()
    reading = read_output(evaluator, EvaluatorOutput(f"good=1\n{'a' * 40_000}!"))
    assert time.monotonic() - began < 30  # by the clock, on a busy machine; the limit is processor time
    assert "evil" not in reading.metrics
    assert reading.failure_pattern == ""


def test_without_metrics_and_patterns_nothing_is_read(monkeypatch):
    monkeypatch.setattr("refinement.judging.isolation.run", None)
    assert read_output(Evaluator(("score",)), EvaluatorOutput("accuracy: 1")).metrics == {}


def test_a_failure_pattern_looks_at_both_outputs_and_is_named():
    evaluator = Evaluator(("score",), failure_patterns=("never", r"^0 passed\b"))
    for output in (EvaluatorOutput("start\n0 passed"), EvaluatorOutput("fine", "0 passed")):
        assert read_output(evaluator, output).failure_pattern == "“^0 passed\\b”"
    assert read_output(evaluator, EvaluatorOutput("10 passed")).failure_pattern == ""


@pytest.mark.parametrize(
    ("output", "fails"),
    [
        ("0 passed, 10 failed", True),
        ("10 failed, 0 passed", True),
        ("Tests: 3 failed, 0 passed, 3 total", True),
        ("0 passed, 1 error", True),
        ("===== 3 failed in 0.02s =====", True),
        ("3 failed in 0.02s", True),
        ("2 failed, 1 error in 1.5s", True),
        ("1 error in 0.03s", True),
        ("accuracy: 0", True),
        ("Accuracy = 0.00%", True),
        ('{"accuracy": 0.0}', True),
        ("10 passed", False),
        ("10 passed, 0 failed", False),
        ("100 passed, 10 failed", False),
        ("1 failed, 2 passed in 0.1s", False),
        ("0 passed, 4 skipped", False),  # nothing was tried
        ("0 failed in 2.0s", False),
        ("accuracy: 0.93", False),
        ("accuracy: 0.05", False),
        ("accuracy: 10", False),
        ("inaccuracy: 0", False),
        ("accuracy: 0.0001", False),
    ],
)
def test_the_patterns_that_rubrics_for_code_come_with(output, fails):
    evaluator = Evaluator(("score",), failure_patterns=FAILURE_PATTERNS)
    assert bool(read_output(evaluator, EvaluatorOutput(output)).failure_pattern) is fails


@pytest.mark.parametrize(
    ("pattern", "groups", "words"),
    [
        (r"a (\d+)", 1, None),
        (r"(?:a|b) (\d+)", 1, None),
        (r"a \d+", 1, "exactly one group"),
        (r"(a) (\d+)", 1, "exactly one group"),
        (r"a (\d+", 1, "not a valid regular expression"),
        (r"^((?:a|aa)+)+$", None, "takes longer than"),
        ("a" * 2_001, None, "2,000 are allowed"),
        ("a\nb", None, "must be on one line"),
        (r"0 passed", None, None),
        (r"(a)(b)", None, None),
    ],
)
def test_a_pattern_is_checked_before_it_is_saved(pattern, groups, words):
    problems = pattern_problems(pattern, groups=groups)
    assert (words in problems[0]) if words else problems == []


@pytest.mark.parametrize(
    ("pointer", "words"),
    [("/a/0", None), ("/", None), ("a/b", "starts with a slash"), ("/a~b", "~0"), ("#/a", "slash")],
)
def test_a_pointer_is_checked_before_it_is_saved(pointer, words):
    problems = pointer_problems(pointer)
    assert (words in problems[0]) if words else problems == []
