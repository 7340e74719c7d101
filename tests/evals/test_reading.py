"""Eval files: their cases, and every invalid line."""

from decimal import Decimal

import pytest

from refinement.evals.finding import eval_files
from refinement.evals.planning import Planner
from refinement.evals.reading import read_eval, read_evals
from refinement.evals.types import BadEval, Loop

WHOLE = """\
name: Mail
prompts:
  - label: plain
    raw: Write to {{ who }} about {{ what }}.
  - file://prompt.txt
vars:
  what: hats
defaultTest:
  threshold: 0.6
  assert:
    - type: not-contains
      value: "{{ what }}!"
tests:
  - description: a letter
    vars:
      who: [Ada, "0.10"]
    assert:
      - {type: equals, value: "Dear {{ who }}", id: exact, weight: 2.5, severity: info, suggestion: Be brief.}
      - {type: regex, value: '\\d+', flags: i}
      - {type: length, min: 1, max: 9, unit: words}
      - {type: json-schema, value: {type: object}}
      - It is kind.
  - id: own
    input:
      - {role: user, content: "Now {{ what }}."}
      - {role: system, content: Be brief.}
    threshold: 1
targets:
  - ollama/qwen3:14b
  - {name: agent, kind: command, command: ./agent --quiet, timeout: 5, judge: ollama/qwen3:14b}
execution:
  ralph: {max_iterations: 4}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "prompt.txt").write_text("Tell {{ who | default('all') }} of {{ what }}.\n")
    return tmp_path


def read(folder, text, name="mail.eval.yaml"):
    (folder / name).write_text(text)
    return read_eval(folder / name)


def test_tests_prompts_and_values_make_cases(folder):
    found = read(folder, WHOLE)
    assert [(case.name, case.prompt) for case in found.cases] == [
        ("a letter (plain, who=Ada)", "Write to Ada about hats."),
        ("a letter (prompt 2, who=Ada)", "Tell Ada of hats."),
        ("a letter (plain, who=0.10)", "Write to 0.10 about hats."),
        ("a letter (prompt 2, who=0.10)", "Tell 0.10 of hats."),
        ("own", "Be brief.\n\nNow hats."),
    ]
    first, own = found.cases[0], found.cases[-1]
    assert [(check.key, check.kind, dict(check.parameters)) for check in first.checks] == [
        ("exact", "equals", {"text": "Dear Ada"}),
        ("regex-1", "regex", {"pattern": r"\d+", "flags": "i"}),
        ("length-1", "length", {"minimum": 1, "maximum": 9, "unit": "words"}),
        ("json-schema-1", "json-schema", {"schema": {"type": "object"}}),
        ("not-contains-1", "not-contains", {"text": "hats!"}),
    ]
    exact = first.checks[0]
    assert (exact.weight, str(exact.severity), exact.suggestion) == (Decimal("2.5"), "info", "Be brief.")
    assert [(criterion.key, criterion.description) for criterion in first.criteria] == [
        ("llm-rubric-1", "It is kind.")
    ]
    assert (first.threshold, own.threshold) == (Decimal("0.6"), Decimal(1))


def test_settings_of_the_call_come_before_those_of_the_files(folder):
    found = read(folder, WHOLE)

    def policies(**given):
        jobs = Planner(["agent"], Loop(**given), ralph=True).jobs([found])
        return {(job.definition.policy.max_rounds, str(job.definition.policy.pass_threshold)) for job in jobs}

    assert policies() == {(4, "0.6"), (4, "1")}
    assert policies(max_iterations=2, threshold=Decimal("0.9")) == {(2, "0.9")}


@pytest.mark.parametrize(
    ("block", "ralph", "rounds"),
    [
        ("", None, 1),
        ("execution: {judge: agent}", None, 1),
        ("execution: {ralph: {}}", None, 3),
        ("execution: {ralph: {threshold: 0.5}}", None, 3),
        ("execution: {ralph: {max_iterations: 4}}", None, 4),
        ("execution: {ralph: {max_iterations: 4}}", True, 4),
        ("execution: {ralph: {max_iterations: 4}}", False, 1),
        ("", True, 3),
        ("", False, 1),
    ],
)
def test_the_files_block_switches_the_loop_on_and_the_command_line_decides(folder, block, ralph, rounds):
    found = read(folder, f"input: Hi\ntests: [{{assert: [{{type: contains, value: x}}]}}]\n{block}\n")
    (job,) = Planner(["ollama/qwen3:14b"], ralph=ralph).jobs([found])
    assert job.definition.policy.max_rounds == rounds


def test_an_assertion_without_a_severity_leaves_the_verdict_to_the_threshold(folder):
    found = read(folder, "input: Hi\ntests: [{assert: [{type: contains, value: x}]}]\n")
    assert [str(check.severity) for check in found.cases[0].checks] == ["warning"]


def test_a_case_is_known_by_its_content(folder):
    found = read(folder, WHOLE)
    jobs = Planner(ralph=True).jobs([found])
    assert len(jobs) == 10  # five cases, two targets
    assert len({job.key for job in jobs}) == 10
    moved = read(folder, WHOLE.replace("tests:\n", "tests:\n  - {id: new, input: Hi, assert: [x]}\n"))
    again = {job.key for job in Planner(ralph=True).jobs([moved])}
    assert {job.key for job in jobs} < again
    changed = read(folder, WHOLE.replace("suggestion: Be brief.", "suggestion: Be short."))
    assert len({job.key for job in jobs} & {job.key for job in Planner(ralph=True).jobs([changed])}) == 2
    twice = Planner(ralph=True).jobs([found, found])
    assert len({job.key for job in twice}) == 20


def test_the_judge_is_the_targets_the_files_or_the_target_itself(folder):
    found = read(folder, WHOLE)
    judges = {job.target.name: job.judge.name for job in Planner().jobs([found]) if job.case.criteria}
    assert judges == {"ollama/qwen3:14b": "ollama/qwen3:14b", "agent": "ollama/qwen3:14b"}
    bare = read(folder, WHOLE.replace(", judge: ollama/qwen3:14b", ""))
    with pytest.raises(BadEval, match=r"mail.eval.yaml:14: llm-rubric needs a judge model"):
        Planner(["agent"]).jobs([bare])


@pytest.mark.parametrize(
    "written", ["ollama:chat:llama3:8b", "[ollama:chat:llama3:8b]", "[{id: ollama:chat:llama3:8b}]"]
)
def test_providers_of_promptfoo_are_targets(tmp_path, written):
    path = tmp_path / "a.eval.yaml"
    path.write_text(f"{GOOD}providers: {written}")
    read = read_eval(path)
    assert read.wanted == ("ollama/llama3:8b",)
    assert (read.targets["ollama/llama3:8b"].endpoint, read.targets["ollama/llama3:8b"].model) == (
        "ollama",
        "llama3:8b",
    )


def test_targets_are_looked_for_upwards_to_the_repositorys_root(tmp_path):
    (tmp_path / "targets.yaml").write_text("targets: [{name: far, kind: embedded}]")
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    inside = tmp_path / "repository" / "evals"
    inside.mkdir()
    found = read(inside, "input: Hi\ntests: [{assert: [Kind.]}]")
    with pytest.raises(BadEval, match="no target selected"):
        Planner().jobs([found])
    (tmp_path / "repository" / "targets.yml").write_text("targets: [{name: near, kind: embedded}]")
    (job,) = Planner().jobs([found])
    assert (job.target.name, job.target.endpoint) == ("near", "embedded")
    with pytest.raises(BadEval, match=r"--target other: not found\. Available: near\."):
        Planner(["other"]).jobs([found])


GOOD = "input: Hi\ntests:\n  - assert:\n      - {type: contains, value: x}\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("tests: []", 1, "tests must be a list with at least one test."),
        ("tests: [{assert: [Kind.]}]", 1, "has no prompt: add prompts or input"),
        (GOOD + "scenarios: [x]", 5, "Unknown key 'scenarios' in an eval file. Available: name, "),
        (GOOD + "    threshhold: 1", 5, "Unknown key 'threshhold' in tests, entry 1"),
        (GOOD.replace("contains", "contain"), 4, "unknown type 'contain'. Available: contains, "),
        (GOOD.replace("type: contains, ", ""), 4, "type is required. Available:"),
        (GOOD.replace("value: x", "values: x"), 4, "Unknown key 'values' in assert, entry 1 (contains)"),
        (GOOD.replace("value: x", "value: x, severity: bad"), 4, "must be one of: error, warning, info"),
        (GOOD.replace("value: x", "value: x, weight: 0"), 4, "weight must be above 0"),
        (GOOD.replace("contains, value: x", "regex, value: '('"), 4, "not a valid regular expression"),
        (GOOD.replace("contains, value: x", "length, min: 3, max: 2"), 4, "greater than the maximum"),
        (GOOD.replace("contains, value: x", "json-schema, value: {type: 3}"), 4, "schema is not valid"),
        (GOOD.replace("contains, value: x", "script, value: ./nothing.sh"), 4, "cannot be started"),
        (GOOD.replace("value: x", "value: '{{ who }}'"), 4, "'who' is undefined. Available vars: none."),
        (GOOD.replace("input: Hi", "input: '{{ who }}'"), 1, "'who' is undefined"),
        (GOOD.replace("Hi", "file://no.txt"), 1, "no.txt cannot be read"),
        (GOOD + "vars: {a-b: 1}", 5, "'a-b' cannot be a var"),
        (GOOD + "vars: {a: [[1]]}", 5, "vars.a must be a text, a number, true or false"),
        (GOOD + "prompts: [Hi]", 1, "Use prompts or input, not both."),
        (GOOD + "execution: {ralph: {threshold: 2}}", 5, "must be between 0 and 1"),
        (GOOD + "execution: {ralph: {max_iterations: 0}}", 5, "a whole number from 1 to 100"),
        (GOOD + "execution: {ralph: {feedback_template: no.md}}", 5, "no.md cannot be read"),
        (GOOD + "providers: ['openai:gpt-4o']", 5, "only ollama:chat:MODEL is supported"),
        (GOOD + "providers: [{id: 'ollama:chat:x', config: {}}]", 5, "config"),
        (GOOD + "targets: [{name: a, kind: magic}]", 5, "kind must be one of: ollama, openai_compatible"),
        (GOOD + "targets: [{name: a, kind: ollama}]", 5, "1 key is missing: model"),
        (GOOD + "targets: [{name: a b, kind: embedded}]", 5, "name must be letters, digits"),
        (GOOD + "targets: [{name: a, kind: ollama, model: m, url: 'ftp://x'}]", 5, "starts with http://"),
        (GOOD + "targets: [{name: a, kind: command, command: []}]", 5, "must not be empty"),
        (GOOD + "targets: [nothing]", 5, "'nothing' has no model"),
        (GOOD + "name: *a", 5, "The alias *a has no anchor before it"),
        (GOOD + "name: !python/object x", 5, "is not supported; remove it"),
        ("input: [}\n", 1, "not valid YAML"),
        ("1", 1, "An eval file must consist of keys and values"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path, text, line, words):
    with pytest.raises(BadEval) as refused:
        read(tmp_path, text)
    said = [problem for problem in refused.value.problems if words in problem]
    assert said, refused.value.problems
    assert said[0].startswith(f"{tmp_path}/mail.eval.yaml:{line}: ")


def test_ranges_must_make_sense(tmp_path):
    ranges = "{score_range: [0, 5], outcome: a}, {score_range: [5, 10], outcome: b}"
    item = f"{{criterion: Kind?, score_ranges: [{ranges}]}}"
    text = f"input: Hi\ntests: [{{assert: [{{type: llm-rubric, value: [{item}]}}]}}]"
    with pytest.raises(BadEval, match="overlap: one ends at 5 and another starts at 5"):
        read(tmp_path, text)
    with pytest.raises(BadEval, match="the lower first, such as"):
        read(tmp_path, text.replace("[5, 10]", "[10, 6]"))


def test_all_files_are_read_before_anything_is_said(tmp_path):
    for name in ("a.eval.yaml", "b.eval.yml"):
        (tmp_path / name).write_text("tests: []")
    with pytest.raises(BadEval) as refused:
        read_evals(eval_files([tmp_path]))
    assert len(refused.value.problems) == 2


def test_folders_are_looked_through_for_eval_files(tmp_path):
    for name in ("EVAL.yaml", "deep/x.eval.yaml", "deep/notes.yaml", ".hidden/y.eval.yaml", "deep/eval.yml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("tests: []")
    found = [str(path.relative_to(tmp_path)) for path in eval_files([tmp_path, tmp_path / "EVAL.yaml"])]
    assert found == ["EVAL.yaml", "deep/eval.yml", "deep/x.eval.yaml"]
    for wrong in (tmp_path / "nothing", tmp_path / ".hidden" / "none"):
        with pytest.raises(BadEval, match="file not found"):
            eval_files([wrong])
