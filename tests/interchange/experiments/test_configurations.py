"""Configuration files: their content, and all problems at once."""

import pytest

from refinement.interchange.experiments.configurations import ConfigurationText, configurations_from_yaml
from refinement.interchange.rubrics.yaml_reading import BadFile

FILE = """\
configurations:
  - name: now
    rubric: wiggum@3
    producer: ollama/qwen3:14b
    judge: ollama/gemma3:27b
    baseline: true
  - name: next
    rubric: wiggum
    producer: embedded
    judge: ollama/gemma3:27b
    clerk: ollama/qwen3:4b
    set:
      policy.max_rounds: 2
      policy.on_plateau: stop
      judges.mode: board
"""


def problems(text: str) -> list[str]:
    with pytest.raises(BadFile) as bad:
        configurations_from_yaml(text)
    return [str(problem) for problem in bad.value.problems]


def test_a_file_of_configurations():
    now, following = configurations_from_yaml(FILE)
    assert now == ConfigurationText(
        *("now", "wiggum@3", "ollama/qwen3:14b", "ollama/gemma3:27b"), baseline=True, line=2
    )
    assert following.changes == {
        "policy.max_rounds": "2",
        "policy.on_plateau": "stop",
        "judges.mode": "board",
    }
    assert (following.producer, following.clerk, following.baseline) == ("embedded", "ollama/qwen3:4b", False)


def test_all_problems_are_reported_at_once_with_their_lines():
    text = """\
configurations:
  - name: A
    rubric: wiggum@new
    producer: qwen3
    sett: {}
  - name: a
    rubric: wiggum
    producer: ollama/x
    baseline: perhaps
  - name: B
    producer: scripted:replies.jsonl
    rubric: wiggum
    set: [policy.max_rounds]
"""
    assert problems(text) == [
        "Line 3: rubric in configuration 1 must be SLUG or SLUG@VERSION, not 'wiggum@new'.",
        "Line 4: producer in configuration 1 must be ENDPOINT/MODEL, such as ollama/qwen3:14b, not 'qwen3'.",
        "Line 5: Unknown key 'sett' in configuration 1. Available: name, rubric, producer, judge, clerk, "
        "set, baseline.",
        "Line 9: baseline in configuration 2 must be true or false.",
        "Line 11: producer in configuration 3: scripted replies only work with wiggum refine.",
        "Line 13: set in configuration 3 must be keys with values, such as policy.max_rounds: 2.",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("configurations: []", "Line 1: configurations must be a list with at least one entry."),
        ("name: x", "Line 1: In a file of configurations, 1 key is missing: configurations."),
        (
            "configurations:\n" + "  - {name: a, rubric: w, producer: x/y, baseline: true}\n" * 2,
            "Line 3: Only one configuration can be the baseline; a is one already.",
        ),
        (
            "configurations:\n" + "  - {name: a, rubric: w, producer: x/y}\n" * 2,
            "Line 3: The name 'a' is used in line 2 already.",
        ),
        (
            "configurations:\n- name: a\n  rubric: w\n  producer: x/y\n  set:\n    policy:\n      a: 1",
            "Line 6: 'policy' of set in configuration 1 has keys below it; write them on one line with dots.",
        ),
    ],
)
def test_a_problem(text, problem):
    assert problem in problems(text)
