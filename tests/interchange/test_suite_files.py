"""Suites as YAML, JSON Lines and CSV: exact both ways, and every problem with its line."""

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refinement.engine.types import Check, Severity
from refinement.interchange.rubrics.yaml_reading import BadFile
from refinement.interchange.suites import types
from refinement.interchange.suites.reading import tasks_from_values
from refinement.interchange.suites.tables import (
    escaped,
    tasks_from_csv,
    tasks_from_jsonl,
    tasks_to_csv,
    tasks_to_jsonl,
    unescaped,
)
from refinement.interchange.suites.types import (
    SuiteTaskText,
    SuiteText,
    check_from_json,
    check_json,
    key_for,
    line_cleaned,
    tags_cleaned,
    text_cleaned,
)
from refinement.interchange.suites.yaml import suite_from_yaml, suite_to_yaml
from refinement.judging.sources import SourceText

CHECK = Check("cites", "contains", {"text": "["}, Severity.WARNING, Decimal("0.5"), "Cite a source.")
FULL = SuiteTaskText(
    key="restore",
    title="Restore a backup",
    task="=Explain: how to restore\na backup\n\n  with indents",
    task_type="how-to",
    tags=("a, b"[:1], "ünï"),
    seed="# Draft\n\n\n",
    expected="- names the command",
    sources=(SourceText("notes.txt", "'=1+1\nFacts: #1"),),
    checks=(CHECK,),
)
PLAIN = SuiteTaskText(key="007", title="null", task="true")
SUITE = SuiteText("Release: notes", "Two tasks.\n\nFor git.", (FULL, PLAIN))

TEXTS = st.text(max_size=80).map(text_cleaned)
LINES = st.text(max_size=40).map(line_cleaned)
TASKS = st.builds(
    SuiteTaskText,
    key=st.from_regex(types.KEY, fullmatch=True),
    title=LINES.filter(bool),
    task=TEXTS.map(str.strip).filter(bool),
    tags=st.lists(LINES, max_size=3).map(tags_cleaned),
    seed=TEXTS,
    expected=TEXTS,
)


@given(st.lists(TASKS, max_size=3, unique_by=lambda task: task.key), LINES.filter(bool))
@settings(max_examples=150)
def test_any_text_survives_every_format(tasks, name):
    tasks = tuple(tasks)
    assert suite_from_yaml(suite_to_yaml(SuiteText(name, "", tasks))) == SuiteText(name, "", tasks)
    if tasks:
        assert tasks_from_csv("".join(tasks_to_csv(tasks)))[0] == tasks
        assert tasks_from_jsonl("".join(tasks_to_jsonl(tasks))) == tasks


def test_sources_and_checks_survive_every_format():
    assert suite_from_yaml(suite_to_yaml(SUITE)) == SUITE
    assert tasks_from_csv("".join(tasks_to_csv(SUITE.tasks))) == (SUITE.tasks, [])
    assert tasks_from_jsonl("".join(tasks_to_jsonl(SUITE.tasks))) == SUITE.tasks
    assert check_from_json(json.loads(json.dumps(check_json(CHECK)))) == CHECK


@given(st.text(alphabet="'=+-@ a\t", max_size=6))
def test_no_cell_is_a_formula_and_each_comes_back(text):
    assert unescaped(escaped(text)) == text
    assert not escaped(text).lstrip().startswith(("=", "+", "-", "@"))


def test_a_task_needs_only_its_text():
    [task] = suite_from_yaml("wiggum_suite: 1\nname: One\ntasks:\n  - task: '# Say hello. Now.'\n").tasks
    assert (task.key, task.title) == ("say-hello-now", "Say hello. Now.")


def test_made_keys_are_free():
    tasks = tasks_from_values([{"task": "Hello"}, {"task": "Hello"}, {"key": "hello-2", "task": "x"}])
    assert [task.key for task in tasks] == ["hello", "hello-3", "hello-2"]
    assert key_for("日本", {"task"}) == "task-2"


def problems(read, source):
    with pytest.raises(BadFile) as caught:
        read(source)
    return [(problem.line, problem.message) for problem in caught.value.problems]


YAML_PROBLEMS = """wiggum_suite: 1
name: Broken
tasks:
  - key: a b
    task: Fine
  - key: twice
    task: ""
  - key: twice
    task: Fine
    colour: red
    checks:
      - key: no-kind
        kind: nothing-like-it
    sources:
      - name: empty
        text: ""
  - title: [not, text]
    task: x
"""


def test_all_problems_of_a_yaml_file_are_found_at_once():
    found = problems(suite_from_yaml, YAML_PROBLEMS)
    expected = [
        (4, "key in task 1"),
        (7, "task 2 has no task text"),
        (8, "already used on line 6"),
        (10, "Unknown key 'colour'"),
        (12, "nothing-like-it"),
        (16, "text in sources in task 3, entry 1 is required"),
        (17, "title in task 4 must be a text"),
    ]
    assert [line for line, _ in found] == [line for line, _ in expected]
    for (_, message), (_, words) in zip(found, expected, strict=True):
        assert words in message


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("name: x\n", 1, "wiggum_suite: 1"),
        ("wiggum_suite: 2\nname: x\n", 1, "only supported version"),
        ("wiggum_suite: 1\nname: x\ntasks: hello\n", 3, "tasks must be a list"),
        ("wiggum_suite: 1\ntasks: []\n", 1, "missing: name"),
        (f"wiggum_suite: 1\nname: x\ntasks:\n  - task: {'y' * 200_001}\n", 4, "200,000 are allowed"),
        ("wiggum_suite: 1\nname: x\ntasks:\n" + "  - task: y\n" * 2_001, 2_004, "2,000 are allowed"),
    ],
)
def test_a_problem_has_its_line(source, line, words):
    found = problems(suite_from_yaml, source)
    assert [(at, words in message) for at, message in found][:1] == [(line, True)], found


def test_csv_has_lines_too_though_cells_have_several():
    source = 'Key;Prompt;Colour\na;"two\nlines";red\n;;\nb;;blue\nc;x;green;more\n'
    found = problems(lambda text: tasks_from_csv(text), source)
    assert [line for line, _ in found] == [5, 6]
    assert "no task text" in found[0][1]
    assert "more cells" in found[1][1]


def test_csv_names_columns_it_does_not_use():
    tasks, notes = tasks_from_csv("\ufeffid,input,type,Owner\nx,Say it.,How-To,me\n")
    assert tasks == (SuiteTaskText("x", "Say it.", "Say it.", "how-to"),)
    assert [note.message for note in notes] == ["The column 'Owner' is not used."]


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("", 1, "empty"),
        ("key,title\na,b\n", 1, "no column"),
        ("task\n", 1, "no tasks below"),
        ('task\nfine\n"open\n', 3, "not valid CSV"),
        ("task,checks\nx,nonsense\n", 2, "JSON list"),
    ],
)
def test_a_bad_table_is_refused(source, line, words):
    [(at, message)] = problems(tasks_from_csv, source)
    assert (at, words in message) == (line, True), message


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("\n\n", 1, "no tasks"),
        ('{"task": "x"}\nnot json\n', 2, "not a JSON object"),
        ('{"task": "x"}\n\n["list"]\n', 3, "must be keys"),
        ('{"task": 1, "key": "x"}\n{"task": "y", "key": "x"}', 2, "already used on line 1"),
        ("[" * 5_000 + "]" * 5_000, 1, "nested too deeply"),
        ('{"task": ' + "[" * 90 + "]" * 90 + "}", 1, "nested too deeply"),
    ],
)
def test_a_bad_line_is_refused(source, line, words):
    [(at, message)] = problems(tasks_from_jsonl, source)
    assert (at, words in message) == (line, True), message


def test_limits_are_those_of_runs():
    from refinement.models.runs.runs import TASK_TYPE_CHARS, TITLE_CHARS
    from refinement.services.runs.creating import MOST_TAGS, TAG_CHARS

    ours = (types.TITLE_CHARS, types.TASK_TYPE_CHARS, types.MOST_TAGS, types.TAG_CHARS)
    assert ours == (TITLE_CHARS, TASK_TYPE_CHARS, MOST_TAGS, TAG_CHARS)


@pytest.mark.parametrize(
    ("title", "key"),
    [
        ("Ünïcode & more!", "unicode-more"),
        ("Explain how the nightly backup recovers after a crash", "explain-how-the-nightly-backup-recovers"),
        ("x" * 90, "x" * 40),
        ("…", "task"),
    ],
)
def test_keys_are_made_from_titles(title, key):
    assert key_for(title, ()) == key
