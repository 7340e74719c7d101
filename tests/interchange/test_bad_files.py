"""A file that is not a rubric is refused quickly, with every line and reason."""

import time
from dataclasses import replace

import pytest

from refinement.engine.profiles import rubric_for
from refinement.interchange.rubrics.yaml import MAX_BYTES, BadFile, rubric_from_yaml, rubric_to_yaml

PLAIN = replace(rubric_for("wiggum"), checks=())
GOOD = rubric_to_yaml(PLAIN)


def told(source: str) -> list[str]:
    with pytest.raises(BadFile) as refused:
        rubric_from_yaml(source)
    return [str(problem) for problem in refused.value.problems]


def line_of(source: str, start: str) -> int:
    return next(number for number, line in enumerate(source.split("\n"), 1) if line.strip().startswith(start))


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


EXAMPLE = "calibration: null"


@pytest.mark.parametrize(
    ("old", "new", "at", "words"),
    [
        ("wiggum_rubric: 1", "wiggum_rubric: 2", "wiggum_rubric", "wiggum_rubric must be 1"),
        ("name: Wiggum six", "nme: x\nname: Wiggum six", "nme", "Unknown key 'nme' in a rubric file"),
        ("profile: wiggum", "profile: other", "profile", "must be one of: wiggum, ralph, simmer"),
        ("problem_class: text", "problem_class: [a]", "problem_class", "must be one of: text, code"),
        ("  minimum: 0", "  minimum: zero", "minimum", "must be a number such as 0.25, not 'zero'"),
        ("  minimum: 0", "  minimum: 1e5", "minimum", "must be a number"),
        ("  minimum: 0", "  minimum: 0.00001", "minimum", "at most 4 decimal places"),
        ("  minimum: 0", "  minimum: 11", "scale", "minimum must be less than its maximum"),
        ("weight: 0.25", "weight: 0", "- key: depth", "the weight of criterion 'depth' must be positive"),
        ("weight: 0.25", "weight: -1", "- key: depth", "must be positive"),
        ("key: relevance", "key: depth", "", "The criterion key 'depth' is already used on line"),
        ("name: Relevance", 'name: ""', 'name: ""', "is required"),
        ("primary: false", "primary: maybe", "primary: maybe", "must be true or false"),
        ("max_rounds: 3", "max_rounds: 2.5", "max_rounds", "must be a whole number from 1 to 1,000"),
        ("  max_rounds: 3\n", "", "policy", "In policy, 1 key is missing: max_rounds"),
        ("[passed, ", "[cancelled, ", "stop_rules", "cancelled is not a stop rule"),
        ("[passed, ", "[pased, ", "stop_rules", "not 'pased'"),
        ("pass_threshold: 9", "pass_threshold: 11", "pass_threshold", "outside the scale of 0 to 10"),
        ("criterion: depth", "criterion: dept", "criterion", "is not the key of a criterion"),
        ("points: 1", "points: -1", "penalties", "must not be negative"),
        ("tokens: null", "tokens: 0", "tokens", "must be a whole number from 1"),
        ("producer_temperature: 0.7", "producer_temperature: 3", "policy", "must be between 0 and 2"),
        ("task, criteria, round", "feedback, criteria, round", "feedback,", "The judge cannot see feedback"),
        ("task, criteria, round", "exploration, round", "exploration,", "not 'exploration'"),
        ("context:\n", "context:\n  reflect: [task]\n", "reflect", "Unknown key 'reflect' in context"),
        ("  command: []", "  command: [score]", "command", "needs {file} in one of its parts"),
        ("  command: []", "  command: ['', '{file}']", "command", "must start with the program"),
        ("  timeout: 60", "  timeout: 3601", "timeout", "must be a whole number from 1 to 3,600"),
        ("  repeat: 1", "  repeat: 21", "repeat", "must be a whole number from 1 to 20"),
        ("  validation: []", "  validation: ['']", "validation", "must start with the program"),
        ("failure_patterns: []", "failure_patterns:\n  - fine\n  - 'a('", "- 'a('", "not a valid regular"),
        ("failure_patterns: []", "failure_patterns: ['(a|aa)+$']", "failure_patterns", "takes longer than"),
        ("  metrics: []", "  metrics: [{name: a}]", "metrics", "either a pattern or a pointer"),
        ("  metrics: []", "  metrics: [{pattern: (a)}]", "metrics", "name"),
        ("  metrics: []", "  metrics:\n  - name: a\n    pattern: a", "pattern: a", "exactly one group"),
        (
            "  metrics: []",
            "  metrics:\n  - name: a\n    pattern: '(a'",
            "pattern: '(a'",
            "not a valid regular",
        ),
        ("  metrics: []", "  metrics:\n  - name: a\n    pointer: a/b", "pointer: a/b", "starts with a slash"),
        (
            "  metrics: []",
            "  metrics:\n  - {name: a, pointer: /a}\n  - {name: a, pointer: /b}",
            "- {name: a, pointer: /b",
            "The metric 'a' is already there",
        ),
        ("output_schema: {}", "output_schema: {type: objekt}", "output_schema", "not valid at $.type"),
        ("output_schema: {}", "output_schema: [a]", "output_schema", "must be keys with values"),
        ('output_pattern: ""', "output_pattern: '('", "output_pattern", "not a valid regular expression"),
        ('output_pattern: ""', "output_pattern: '^((?:a|aa)+)+0$'", "output_pattern", "takes longer than"),
        ("file_name: candidate.txt", "file_name: ../x", "evaluator", "file name must be plain"),
        ("checks: []", "checks: 7", "checks", "checks must be a list"),
        ("checks: []", "checks: [{key: a, kind: nope}]", "checks", "There is no check of the kind 'nope'"),
        ("checks: []", "checks: [{key: a, kind: command}]", "checks", "A command cannot be a check here"),
        (
            "checks: []",
            "checks:\n  - {key: a, kind: regex, parameters: {pattern: '('}}",
            "- {key: a",
            "Pattern",
        ),
        ("templates: {}", "templates: {other: x}", "templates", "Unknown key 'other' in templates"),
        ("templates: {}", "templates: {judge: '{{ nope }}'}", "templates", "Unknown variable 'nope'"),
        (EXAMPLE, f"{EXAMPLE[:-4]}{{text: a, scores: {{}}}}", "calibration", "needs a score"),
        (EXAMPLE, f"{EXAMPLE[:-4]}{{text: a, scores: {{depth: 11}}}}", "calibration", "score 11 of 'depth'"),
        (EXAMPLE, f"{EXAMPLE[:-4]}{{text: a, scores: {{other: 1}}}}", "calibration", "not a criterion's key"),
        (EXAMPLE, f"{EXAMPLE[:-4]}{{text: '', scores: {{depth: 1}}}}", "calibration", "is required"),
        (EXAMPLE, f"{EXAMPLE}\nseed: null", "seed", "Unknown key 'seed' in a rubric file"),
        ('background: ""', 'background: "a\\0b"', "background", "cannot be stored"),
        ('background: ""', "background: {a: b}", "background", "background must be a text"),
    ],
)
def test_a_mistake_is_told_with_its_line(old, new, at, words):
    source = changed(old, new)
    problems = told(source)
    found = [problem for problem in problems if words in problem]
    assert found, problems
    if at:
        assert found[0].startswith(f"Line {line_of(source, at)}: ")


def test_a_problem_in_a_template_between_bars_has_the_line_of_the_file():
    source = changed("templates: {}", "templates:\n  judge: |\n    Fine.\n    {{ nope }}\n    Fine.")
    assert told(source)[0].startswith(f"Line {line_of(source, '{{ nope }}')}: The template 'judge', line 2: ")


def test_every_problem_is_told_at_once():
    source = changed("weight: 0.25", "weight: x").replace("max_rounds: 3", "max_rounds: 0")
    source = source.replace("templates: {}", "templates: {judge: '{% if %}'}").replace(
        "step: null", "stepp: 1"
    )
    problems = told(source)
    assert len(problems) == 4
    assert [int(problem.split(":")[0].split()[1]) for problem in problems] == sorted(
        int(problem.split(":")[0].split()[1]) for problem in problems
    )


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "must consist of keys and values"),
        ("- a\n- b", "must consist of keys and values"),
        ("just a text", "must consist of keys and values"),
        ("name: x", "the line “wiggum_rubric: 1” is missing"),
        ("wiggum_rubric: 1", "4 keys are missing: name, profile, scale, policy"),
        ("a: b\n  c: d", "Line 2: This is not valid YAML"),
        ("a: [b", "This is not valid YAML"),
        ("a: 'b", "This is not valid YAML"),
        ("\ta: b", "This is not valid YAML"),
        ("a: b\na: c", "Line 2: The key 'a' is already used on line 1."),
        ("a: &x b\nc: *x", "Line 2: The alias *x is not allowed"),
        ("a: &x b", "Line 1: The anchor &x is not allowed"),
        ("a: !!python/object/apply:os.system [x]", "is not allowed"),
        ("a: !local b", "The tag !local is not allowed"),
        ("<<: {a: b}", "is missing"),
        ("? [a]\n: b", "A key must be text"),
        ("a: b\n---\nc: d", "Line 2: A second document starts here"),
        ("a: \x07", "Line 1: This line has a character that is not allowed in YAML"),
        ("a: b\nc: \x00", "Line 2: This line has a character"),
        ("%TAG ! tag:x,2000:\n---\na: !b c", "is not allowed"),
    ],
)
def test_what_is_no_rubric_is_refused(source, words):
    assert any(words in problem for problem in told(source)), told(source)


@pytest.mark.parametrize(
    "source",
    [
        "[" * 900_000,
        "{a: " * 200_000,
        "- " * 400_000,
        "? " * 400_000,
        "a: b\n" * 180_000,
        "".join(f"k{number}: v\n" for number in range(90_000)),
        "wiggum_rubric: 1\ncriteria: [" + "{}, " * 40_000 + "]",
        "a" * (MAX_BYTES - 10),
        "x" * (MAX_BYTES + 1),
        '"' + "\\x41" * 200_000 + '"',
        "&a " * 300_000,
        "a: &b [" + "*b, " * 200_000 + "]",
        "# " + "c" * 900_000,
        "é" * (MAX_BYTES // 2 + 1),
    ],
)
def test_a_bomb_is_refused_within_seconds(source):
    start = time.thread_time()
    assert told(source)
    assert time.thread_time() - start < 20


def test_messages_stay_readable_for_huge_values():
    problems = told(changed("profile: wiggum", f"{'k' * 5000}: {'v' * 5000}\nprofile: wiggum"))
    assert all(len(problem) < 600 for problem in problems)


def test_a_byte_order_mark_and_windows_line_ends_are_no_obstacle():
    assert rubric_from_yaml("\ufeff" + GOOD.replace("\n", "\r\n")) == PLAIN
