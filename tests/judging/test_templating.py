"""Prompt templates: what an editor may write, and errors with their line."""

import re

import pytest

from refinement.engine.profiles import PROFILES
from refinement.judging.template_names import FailureValue, GroupValue, sample_values
from refinement.judging.template_rendering import rendered, template_problems
from refinement.judging.template_rules import MAX_SOURCE_CHARS
from refinement.judging.templating import (
    TEMPLATE_NAMES,
    TemplateFailure,
    check_template,
    default_source,
    render,
)


def problems(name, source):
    """What is wrong with a template, which is the same in the child process and here."""
    found = check_template(name, source)
    if name in TEMPLATE_NAMES and source.strip() and len(source) <= MAX_SOURCE_CHARS:
        assert found == template_problems(name, source)
    return [(problem.line, problem.message) for problem in found]


@pytest.mark.parametrize("profile", [*PROFILES, "an editor's own"])
@pytest.mark.parametrize("name", TEMPLATE_NAMES)
def test_every_default_could_be_saved_as_it_is(name, profile):
    assert problems(name, default_source(name, profile)) == []


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("revision", "{{ task }}\n{{ candidate }}\n{{ feedback }}"),
        ("feedback", "{% for issue in issues %}{{ loop.index }}. {{ issue | upper }}\n{% endfor %}none"),
        ("feedback", "{% for group in groups %}{% for failure in group.failures %}{{ failure.message }}"
                     "{% endfor %}{% endfor %}x"),
        ("judge", '{{ criteria | join(", ", attribute="name") }}{% if scale is string %}x{% endif %}'),
        ("feedback", '{{ issues | join }} {{ asi | default("none") | truncate(20) }}'),
        ("judge", '{% set best = maximum %}{{ best if artifact in ["code", "prompt"] else "x" }}'),
        ("draft", "Größe: {{ task }} 日本語 {# a remark #} {% raw %}{{ not a value }}{% endraw %}"),
    ],
)  # fmt: skip
def test_ordinary_templates_are_accepted(name, source):
    assert problems(name, source) == []


@pytest.mark.parametrize(
    ("name", "source", "line", "words"),
    [
        ("poem", "x", 1, "Unknown template 'poem'"),
        ("draft", " \n ", 1, "The template is empty"),
        ("draft", "x" * 20_001, 1, "too long"),
        ("draft", "a\n{{ tsak }}", 2, "Unknown variable 'tsak'"),
        ("draft", "{{ candidate }}", 1, "Unknown variable 'candidate'"),
        ("draft", "a\nb\n{% if task %}", 3, "Unexpected end of template"),
        ("draft", "{{ task }", 1, "Unexpected '}'"),
        ("draft", "a\n{% include 'judge_rules.j2' %}", 2, "include is not available"),
        ("draft", "{% import 'a' as b %}{{ task }}", 1, "import is not available"),
        ("draft", "{% from 'a' import b %}{{ task }}", 1, "import is not available"),
        ("draft", "{% extends 'a' %}", 1, "extends is not available"),
        ("draft", "{% block a %}{% endblock %}", 1, "block is not available"),
        ("draft", "{% macro m() %}{{ m() }}{% endmacro %}", 1, "macro is not available"),
        ("draft", "x\n{% for i in range(9999999) %}a{% endfor %}", 2, "A loop must iterate"),
        ("draft", "{{ task.format(1) }}", 1, "Calls are not available"),
        ("draft", "{{ task ~ task }}", 1, "~ is not available"),
        ("draft", "{{ task * 999999999 }}", 1, "Mul is not available"),
        ("draft", "{{ 9 ** 9 ** 9 }}", 1, "Pow is not available"),
        ("draft", "{{ '%999999999s' % task }}", 1, "Mod is not available"),
        ("draft", "{{ [task, [task]] }}", 1, "only texts and numbers"),
        ("draft", "{% set x %}{{ task }}{% endset %}", 1, "AssignBlock is not available"),
        ("draft", "{% set task = 'x' %}{{ task }}", 1, "'task' is already defined"),
        ("feedback", "{% for issues in failures %}x{% endfor %}", 1, "'issues' is already defined"),
        ("draft", "{{ task.__class__ }}", 1, "Unknown field '__class__'"),
        ("judge", "{% for c in criteria %}{{ c.wieght }}{% endfor %}", 1, "Unknown field 'wieght'"),
        ("judge", "{% for c in criteria %}{{ loop.cycle }}{% endfor %}", 1, "Unknown field 'cycle'"),
        ("draft", "{{ task | pprint }}", 1, "Unknown filter 'pprint'"),
        ("draft", "{% if task is sameish %}x{% endif %}", 1, "Unknown test 'sameish'"),
        ("draft", "{% for letter in task %}x{% endfor %}", 1, "over an available list: criteria"),
        ("judge", "{% for c in criteria recursive %}x{% endfor %}", 1, "cannot be recursive"),
        ("judge", "{% for a in criteria %}{% for b in criteria %}\n{% for c in criteria %}x{% endfor %}"
                  "{% endfor %}{% endfor %}", 2, "2 deep"),
        ("judge", "a\n{{ criteria }}", 2, "cannot be printed"),
        ("judge", "a\n{{ criteria | join }}", 2, "cannot be printed"),
        ("judge", "{{ scale | join }}", 1, "Join requires a list"),
        ("judge", '{{ criteria | join(", ", attribute="__doc__") }}', 1, "Unknown field '__doc__'"),
        ("feedback", "{{ issues | join('" + "-" * 21 + "') }}", 1, "A separator may have at most 20"),
        ("feedback", "{{ issues | first }}", 1, "cannot be rendered"),
        ("judge", "{% if scale > 3 %}x{% endif %}", 1, "cannot be rendered"),
        ("revision", "{% for a in criteria %}{% for b in criteria %}\n{{ task }}{% endfor %}{% endfor %}", 1,
         "characters; repeat less in loops"),
        ("draft", "{# nothing #}", 1, "produces no output"),
        ("draft", "{{ " + "9" * 5_000 + " }}", 1, "A number in the template is too long"),
        ("draft", "a\n" + "{% if task %}" * 41 + "x" + "{% endif %}" * 41, 2, "nested too deeply"),
        ("judge", "{% for c in criteria %}x{% endfor %}\n{{ c.name }}", 2, "Unknown variable 'c'"),
        ("judge", "{% for c in criteria %}{% set a = 1 %}{% else %}{{ c }}{% endfor %}", 1, "variable 'c'"),
        ("judge", "{% for c in criteria %}{% set a = 1 %}{% endfor %}{{ a }}", 1, "variable 'a'"),
        ("judge", "{{ a }}\n{% set a = 1 %}", 1, "Unknown variable 'a'"),
        ("judge", "{{ loop.index }}", 1, "Unknown variable 'loop'"),
        ("draft", "{{ " + "(" * 2_000 + "task" + ")" * 2_000 + " }}", 1, "nested too deeply"),
    ],
)  # fmt: skip
def test_what_could_fail_or_explode_is_refused_with_its_line(name, source, line, words):
    found = problems(name, source)
    assert found, "the template was accepted"
    assert any(words in message for _, message in found), found
    if "repeat less" not in words:
        assert line in [at for at, _ in found]


def test_all_problems_are_told_at_once_in_order():
    found = problems("draft", "{{ b }}\n{{ a }}\n{{ task ~ task }}")
    assert [line for line, _ in found] == [1, 2, 3]


def test_a_template_in_a_value_stays_text():
    hostile = "{{ nonce }} {% for x in y %} {# remark #}"
    assert render("draft", "{{ task }}", task=hostile) == hostile


def test_nothing_is_escaped_and_missing_values_print_nothing():
    assert render("draft", "{{ task }}|{{ background }}", task="<b> & 'c'", background=None) == "<b> & 'c'|"


def test_rendering_with_an_unknown_name_says_so():
    with pytest.raises(TemplateFailure, match=r"'draft' cannot be rendered: 'taks' is undefined\."):
        render("draft", "{{ taks }}", task="x")


@pytest.mark.parametrize("make", [render, lambda name, source, **values: rendered(name, source, values)])
@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("{{ 9**(9**9) }}", "Pow is not available"),
        ("{% if task %}" * 200 + "x" + "{% endif %}" * 200, "nested too deeply"),
        ("{{ taks }}", "'taks' is undefined"),
    ],
)
def test_a_template_that_was_never_checked_does_no_harm(make, source, words):
    with pytest.raises(TemplateFailure, match=re.escape(words)):
        make("draft", source, task="x")


def test_records_and_lists_are_given_as_they_are():
    source = (
        "{% for group in groups %}{{ group.title }}{% for f in group.failures %}:{{ f.message }}"
        "{% endfor %}{% endfor %} {{ groups|length }} {{ groups|join(attribute='title') }}"
    )
    groups = (GroupValue("error", "Errors", (FailureValue("a", "Too short \ud800.", ""),)),)
    assert render("feedback", source, groups=groups) == "Errors:Too short \ud800. 1 Errors"


def test_a_missing_package_template_is_said():
    with pytest.raises(TemplateFailure, match="'nonesuch' cannot be rendered"):
        render("nonesuch", None)


def test_the_default_feedback_groups_failures_by_severity():
    groups = (
        GroupValue("error", "Errors", (FailureValue("a", "Too short.", "Write more."),)),
        GroupValue("info", "Hints", (FailureValue("b", "No date.", ""),)),
    )
    text = render(
        "feedback", None, style="failures", issues=("Vague.",), asi="", note="", groups=groups, failures=()
    )
    assert "Errors:\n- Too short. Suggestion: Write more.\n\nHints:\n- No date.\n" in text
    assert text.endswith("Remarks of the judge:\n- Vague.")


def test_every_variable_is_described_and_sampled():
    for name, variables in TEMPLATE_NAMES.items():
        assert all(variables.values())
        for values in sample_values(name):
            assert values.keys() == variables.keys()
