"""Editing what code reads from outputs: metrics, failure patterns, repeats, validation and the contract."""

from dataclasses import replace

import pytest
from django.urls import reverse

from refinement.engine.codec import rubric_to_json
from refinement.engine.types import EvaluationMode, Evaluator, Metric
from refinement.forms.rubrics.initial import form_fields
from refinement.selectors.rubrics.definitions import definition_of
from tests.views.rubrics.given import MARKUP, a_rubric

pytestmark = pytest.mark.django_db
SCHEMA = {"type": "object", "required": ["total"]}
OUTPUTS = {
    "evaluation_mode": "runnable",
    "evaluator-command": "python3 score.py {file}",
    "evaluator-repeat": "5",
    "evaluator-validation": "python3 -m py_compile {file}",
    "evaluator-failure_patterns": "\\b0 passed\\b\r\n\r\nTraceback",
    "metric-0-name": "accuracy",
    "metric-0-by": "pattern",
    "metric-0-value": "accuracy: (\\S+)",
    "metric-1-name": "seconds",
    "metric-1-by": "pointer",
    "metric-1-value": "/seconds",
    "metric-1-lower": "on",
    "output_schema": '{"type": "object", "required": ["total"]}',
    "output_pattern": "total",
}


@pytest.fixture
def version(project):
    return a_rubric(project)


@pytest.fixture
def address(project, version):
    return reverse("rubric_edit", args=[project.slug, "own"])


def typed(version, **changes):
    fields = form_fields(rubric_to_json(definition_of(version))) | {"edited_from": str(version.number)}
    return fields | {"act": "save"} | changes


def test_everything_is_saved_and_shown_again(as_editor, project, address, version):
    assert as_editor.post(address, typed(version, **OUTPUTS)).status_code == 302
    newest = version.rubric.versions.get(number=2)
    found = definition_of(newest)
    assert found.evaluator == Evaluator(
        command=("python3", "score.py", "{file}"),
        repeat=5,
        validation=("python3", "-m", "py_compile", "{file}"),
        failure_patterns=(r"\b0 passed\b", "Traceback"),
        metrics=(
            Metric("accuracy", pattern=r"accuracy: (\S+)"),
            Metric("seconds", pointer="/seconds", lower_is_better=True),
        ),
    )
    assert (found.output_schema, found.output_pattern) == (SCHEMA, "total")
    editor = as_editor.get(address).content.decode()
    assert 'name="metric-1-value" id="metric-1-value" value="/seconds"' in editor
    assert 'name="metric-1-lower" id="metric-1-lower" checked' in editor
    page = as_editor.get(reverse("rubric_page", args=[project.slug, "own"])).content.decode()
    for words in (
        "5 times per round",
        "py_compile",
        "Traceback",
        "seconds: pointer /seconds, lower is better",
    ):
        assert words in page, words
    assert "&quot;required&quot;" in page
    assert as_editor.post(address, typed(newest)).status_code == 302
    assert version.rubric.versions.count() == 2  # nothing is lost by saving again


def test_errors_stand_at_their_fields(as_editor, address, version):
    odd = {"metric-0-value": "no group", "output_schema": "{", "evaluator-failure_patterns": "("}
    answer = as_editor.post(address, typed(version, **OUTPUTS | odd))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert '<ul class="errorlist" id="metric-0-value-error"><li>The pattern needs exactly one group' in page
    assert '<ul class="errorlist" id="output_schema-error"><li>Not valid JSON' in page
    assert '<ul class="errorlist" id="evaluator-failure_patterns-error"><li>Pattern 1: ' in page
    assert "Metric 1 (accuracy), pattern or pointer" in page
    assert version.rubric.versions.count() == 1


def test_a_metric_is_added_and_removed_without_script(as_editor, address, version):
    added = as_editor.post(address, typed(version, act="add-metric")).content.decode()
    assert 'name="metric-0-name"' in added
    removed = {"act": "show", "metric-0-remove": "on"}
    shown = as_editor.post(address, typed(version, **OUTPUTS | removed)).content.decode()
    assert 'name="metric-0-name"' not in shown
    assert 'name="metric-1-name"' in shown


def test_markup_in_them_is_text(as_editor, project):
    hostile = Evaluator(
        ("score", "{file}"),
        failure_patterns=(MARKUP,),
        metrics=(Metric(MARKUP[:60], pattern=f"{MARKUP[:40]}|(.)".replace('("x', '\\("x')),),
    )
    a_rubric(
        project,
        slug="odd",
        evaluation_mode=EvaluationMode.RUNNABLE,
        evaluator=replace(hostile, validation=(MARKUP,)),
        output_schema={"title": MARKUP},
        output_pattern=MARKUP,
    )
    for name in ("rubric_edit", "rubric_page"):
        page = as_editor.get(reverse(name, args=[project.slug, "odd"])).content.decode()
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "&lt;script&gt;alert" in page
