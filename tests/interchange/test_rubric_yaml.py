"""A rubric exported as YAML and imported again is the same, byte for byte."""

from dataclasses import replace
from decimal import Decimal

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from refinement.engine.profiles import context_rules_for, default_rubrics, rubric_for
from refinement.engine.types import (
    Check,
    Criterion,
    EvaluationMode,
    Evaluator,
    Metric,
    MinimumGain,
    ProblemClass,
    Severity,
    StopReason,
)
from refinement.interchange.imports.fields import as_json
from refinement.interchange.rubrics import yaml_reading
from refinement.interchange.rubrics.yaml import (
    rubric_from_fields,
    rubric_from_yaml,
    rubric_to_fields,
    rubric_to_yaml,
)
from refinement.interchange.rubrics.yaml_writing import entry

ODD = [
    "", " ", "\n", "null", "yes", "No", "1.0", "2026-01-01", "0x1F", ".5", "-", "- a", "a: b", "a #b", "#a",
    "'a'", '"a"', "a\n", "a\n\n\n", "\n\na", "  indented\nless", "\tTab", "a\tb", "{a}", "[a", "*a", "&a",
    "!a", "%a", "@a", "`a`", "a\r\nb", "\u2028", "\x85", "\ufeffa", "\x07bell", "ümläut — “x”", "🙂" * 60,
    "long " * 60, "trailing \nspaces  \n  ", "x\n \n\n y\n", "{{ task }}\n{% if a %}\n  b\n{% endif %}",
    "<script>alert(1)</script>", "\\n", "a: |\n  b", "---\na", "...", "=", "<<", "~", "y", "1:20",
]  # fmt: skip
storable = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=200)
texts = st.one_of(st.sampled_from(ODD), storable)
lines = st.text("ab \t\n:#-|>'\"{[%", max_size=40)


def there_and_back(rubric):
    written = rubric_to_yaml(rubric)
    again = rubric_from_yaml(written)
    assert again == rubric
    assert rubric_to_yaml(again) == written
    return written


@pytest.mark.parametrize("slug", default_rubrics())
def test_a_default_rubric_comes_back_the_same(slug):
    there_and_back(default_rubrics()[slug])


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_come_back_the_same(text):
    there_and_back(rubric_with_text(text))


@given(st.one_of(texts, lines))
@settings(max_examples=300, deadline=None)
def test_any_text_comes_back_the_same(text):
    there_and_back(rubric_with_text(text))


def rubric_with_text(text):
    base = rubric_for("wiggum")
    first = replace(base.criteria[0], description=text, ideal=text)
    return replace(base, purpose=text, background=text, criteria=(first, *base.criteria[1:]))


@given(st.one_of(texts, lines))
@settings(max_examples=200, deadline=None)
def test_a_common_reader_of_yaml_reads_the_same_text(text):
    read = yaml.safe_load(rubric_to_yaml(rubric_with_text(text)))
    assert (read["purpose"], read["criteria"][0]["ideal"]) == (text, text)


def test_the_parser_without_c_reads_the_same(monkeypatch):
    monkeypatch.setattr(yaml_reading, "_LOADER", yaml.SafeLoader)
    for text in ODD:
        there_and_back(rubric_with_text(text))


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(texts, json_values, min_size=1, max_size=4))
@settings(max_examples=200, deadline=None)
def test_any_json_is_written_as_the_same_yaml(value):
    tree = yaml_reading.read_tree("\n".join(entry("root", value)) + "\n")
    assert as_json(tree)["root"] == value


def test_a_key_longer_than_yaml_likes_is_kept():
    value = {"k" * 3000: {"inner": [1, {"x" * 2000: "y"}]}}
    assert as_json(yaml_reading.read_tree("\n".join(entry("root", value)))) == {"root": value}


def test_everything_a_rubric_can_say_is_in_the_file():
    base = rubric_for("simmer")
    full = replace(
        base,
        purpose="For <b>everything</b>.",
        background="Line one.\n\nLine three.",
        output_contract="One file.",
        search_space="Two models.",
        evaluation_mode=EvaluationMode.RUNNABLE,
        evaluator=Evaluator(("sh", "-c", "wc -w < {file} # words"), file_name="a.md", timeout=9),
        checks=(
            Check(
                "schema", "json-schema", {"schema": {"type": "object", "required": ["a"]}}, Severity.WARNING
            ),
            Check(
                "words", "no-placeholders", {"patterns": ["(?i)todo", "x: y # z"]}, weight=Decimal("0.3333")
            ),
        ),
        templates={
            "judge": "Score {{ scale }}.\n{% for criterion in criteria %}\n- {{ criterion.key }}\n"
            "{% endfor %}"
        },
        calibration_text="A seed.\nWith two lines.\n",
        calibration_scores={"clarity": Decimal(7), "usefulness": Decimal(3)},
        policy=replace(
            base.policy, minimum_gain=Decimal("0.0001"), budget=replace(base.policy.budget, calls=9)
        ),
    )
    written = there_and_back(full)
    assert "minimum_gain: 0.0001" in written
    assert "  text: |\n    A seed.\n    With two lines.\n" in written
    assert "  scores:\n    clarity: 7\n    usefulness: 3\n" in written
    assert "weight: 0.3333" in written


def test_numbers_are_plain_whatever_form_they_have_in_memory():
    base = rubric_for("wiggum")
    odd = replace(
        base, policy=replace(base.policy, pass_threshold=Decimal("1E+1"), minimum_gain=Decimal("1E-7"))
    )
    written = there_and_back(odd)
    assert "pass_threshold: 10\n" in written
    assert "minimum_gain: 0.0000001\n" in written


def test_a_minimum_gain_can_be_the_judges_noise():
    base = rubric_for("wiggum")
    stop_rules = (*base.policy.stop_rules, StopReason.UNCHANGED)
    noisy = replace(base, policy=replace(base.policy, minimum_gain=MinimumGain.NOISE, stop_rules=stop_rules))
    written = there_and_back(noisy)
    assert "minimum_gain: noise\n" in written
    assert ", unchanged]\n" in written


def test_the_order_in_which_a_database_keeps_parameters_does_not_show():
    check = Check("length", "length", {"unit": "words", "minimum": 2})
    other = replace(check, parameters={"minimum": 2, "unit": "words"})
    first, second = (replace(rubric_for("wiggum"), checks=(entry,)) for entry in (check, other))
    assert rubric_to_yaml(first) == rubric_to_yaml(second)


def test_what_is_left_out_has_its_default():
    short = """
wiggum_rubric: 1
name: Short
profile: wiggum
scale: {minimum: 0, maximum: 10}
criteria:
- {key: depth, name: Depth}
policy:
  max_rounds: 2
  stop_rules: [max_rounds]
  composite: plain_mean
  next_base: previous
  feedback: issues
"""
    rubric = rubric_from_yaml(short)
    assert rubric.criteria == (Criterion("depth", "Depth"),)
    assert rubric.context == rubric_for("wiggum").context
    assert (rubric.calibration_text, rubric.templates, rubric.policy.plateau_rounds) == ("", {}, 4)


def test_everything_that_is_read_from_the_output_comes_back_the_same():
    evaluator = Evaluator(
        command=("python3", "score.py", "{file}"),
        timeout=3_600,
        repeat=5,
        validation=("python3", "-m", "py_compile", "{file}"),
        failure_patterns=(r"\b0 passed\b", "it's: #1"),
        metrics=(
            Metric("accuracy", pattern=r"^accuracy: (\S+)$"),
            Metric("loss", pointer="/a~1b/0", lower_is_better=True),
        ),
    )
    schema = {"type": "object", "required": ["b", "a"], "properties": {"b": {"type": "integer"}, "a": {}}}
    rubric = replace(
        rubric_for("simmer"), evaluator=evaluator, output_schema=schema, output_pattern=r"(?s)^\{.*\}$"
    )
    written = yaml.safe_load(there_and_back(rubric))
    assert written["evaluator"]["metrics"] == [
        {"name": "accuracy", "pattern": r"^accuracy: (\S+)$", "lower_is_better": False},
        {"name": "loss", "pointer": "/a~1b/0", "lower_is_better": True},
    ]
    assert (written["evaluator"]["repeat"], written["output_schema"]) == (5, schema)
    assert rubric_from_fields(rubric_to_fields(rubric)) == rubric


def test_only_a_name_and_a_way_to_find_it_are_needed():
    short = "evaluator: {metrics: [{name: a, pointer: /a}], repeat: 2}"
    source = "\n".join(
        line
        for line in rubric_to_yaml(replace(rubric_for("simmer"), evaluator=Evaluator())).split("\n")
        if not line.startswith(("  command", "  handover", "  file_name", "  timeout", "  repeat", "  valid"))
        and not line.startswith(("  failure", "  metrics"))
    )
    found = rubric_from_yaml(source.replace("evaluator:", short))
    assert found.evaluator == Evaluator(metrics=(Metric("a", pointer="/a"),), repeat=2)


def test_the_earlier_name_of_the_calibration_example_is_still_read():
    rubric = replace(
        rubric_for("simmer"), calibration_text="Known.", calibration_scores={"clarity": Decimal(4)}
    )
    source = rubric_to_yaml(rubric)
    assert "\ncalibration:\n" in source
    assert rubric_from_yaml(source.replace("\ncalibration:\n", "\nseed:\n")) == rubric


@pytest.mark.parametrize("problem_class", ProblemClass)
@pytest.mark.parametrize(
    ("mode", "command", "evaluator"),
    [
        ("runnable", "[pytest, '{file}']", True),
        ("hybrid", "[pytest, '{file}']", True),
        ("hybrid", "[]", False),
        ("judge_only", "[pytest, '{file}']", False),
    ],
)
def test_without_rules_of_its_own_a_file_gets_the_preset_of_its_evaluator(
    problem_class, mode, command, evaluator
):
    fields = rubric_to_fields(rubric_for("wiggum"))
    del fields["context"]
    fields |= {"problem_class": problem_class.value, "evaluation_mode": mode}
    fields["evaluator"] = {"command": yaml.safe_load(command)}
    assert rubric_from_fields(fields).context == context_rules_for("wiggum", evaluator=evaluator)
