"""Running the evaluator again on a judged round: another result, the same scores; and validations."""

from dataclasses import replace

import pytest
from django.urls import reverse

from refinement.engine.profiles import rubric_for
from refinement.engine.types import EvaluationMode, Evaluator, Handover, Metric
from refinement.execution.commands.trials import evaluator_trial_advance
from refinement.models import EvaluatorResult, EvaluatorTrial, Run, ValidationResult
from tests.api.conftest import api_client
from tests.sandboxed import needs_sandbox
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
MEASURED = Evaluator(
    ("/bin/sh", "-c", "echo accuracy: 0.83"),
    Handover.STDIN,
    metrics=(Metric("accuracy", pattern=r"accuracy: ([\d.]+)"),),
)


def result(row, numbers, **more):
    return EvaluatorResult.objects.create(
        round=row, command=["/bin/sh"], exit_code=0, seconds=1, metrics={"accuracy": numbers}, **more
    )


@pytest.fixture
def run(project, settings) -> Run:
    settings.COMMANDS = ["/bin/sh"]
    rubric = replace(
        rubric_for("wiggum"), evaluation_mode=EvaluationMode.RUNNABLE, evaluator=replace(MEASURED, repeat=3)
    )
    made = finished_run(project, definition=rubric)
    first, second, third = made.rounds.order_by("number")
    result(first, ["0.80", "0.81", "0.84"], runs=3)
    result(second, ["0.79", "0.82", "0.83"], runs=3, failed_runs=1)
    result(third, ["0.95", "0.95", "0.96"], runs=3)
    return made


def address(project, run, name="run_evaluator_again", number=1):
    return reverse(name, args=[project.slug, run.pk, number])


def test_it_adds_a_result_beside_the_first_and_changes_no_score(as_editor, as_viewer, project, run):
    needs_sandbox()
    scores = list(run.rounds.order_by("number").values("composite", "scores"))
    page = as_editor.post(address(project, run), headers=HTMX).content.decode()
    assert "Queued. Starts when a worker is free." in page
    evaluator_trial_advance(EvaluatorTrial.objects.get().pk)
    shown = as_viewer.get(address(project, run, "run_evaluator"), headers=HTMX)
    page = shown.content.decode()
    assert shown.status_code == 286
    assert "accuracy: +0.02 (within noise)" in page
    assert "Run the evaluator again" not in page  # viewers cannot
    assert list(run.rounds.order_by("number").values("composite", "scores")) == scores
    assert EvaluatorResult.objects.count() == 3
    whole = as_editor.get(reverse("run_round", args=[project.slug, run.pk, 1])).content.decode()
    assert "accuracy: +0.02 (within noise)" in whole
    assert "Run the evaluator again" in whole


def test_the_api_runs_it_again_too(project, run, editor, viewer):
    needs_sandbox()
    path = f"/projects/{project.slug}/runs/{run.pk}/rounds/1/evaluator-trials"
    assert api_client(viewer, project, "viewer").post(path).status_code == 403
    client = api_client(editor, project, "editor")
    made = client.post(path)
    assert (made.status_code, made.json()["status"]) == (201, "queued")
    evaluator_trial_advance(made.json()["id"])
    (told,) = client.get(path).json()
    assert (told["status"], told["exit_code"], told["metrics"]) == ("done", 0, {"accuracy": ["0.83"]})
    assert told["differences"] == ["accuracy: +0.02 (within noise)"]


def test_a_round_without_a_result_is_refused(as_editor, project, run):
    EvaluatorResult.objects.filter(round__number=3).delete()
    answer = as_editor.post(address(project, run, number=3), headers=HTMX)
    assert (answer.status_code, "judged round" in answer.content.decode()) == (422, True)
    assert as_editor.post(address(project, run, number=3)).status_code == 302
    assert as_editor.post(address(project, run, number=9)).status_code == 404


def test_others_and_other_methods_are_refused(as_viewer, as_outsider, as_editor, project, run):
    assert as_viewer.post(address(project, run)).status_code == 403
    assert as_outsider.post(address(project, run)).status_code == 404
    assert as_editor.get(address(project, run)).status_code == 405
    assert not EvaluatorTrial.objects.exists()


@pytest.mark.parametrize(("number", "noise"), [(1, False), (2, True), (3, False)])
def test_a_change_within_the_spread_is_called_noise_on_the_page(as_viewer, project, run, number, noise):
    page = as_viewer.get(reverse("run_round", args=[project.slug, run.pk, number])).content.decode()
    assert ("within noise" in page) is noise
    assert "3 runs" in page
    assert ("1 failed completely" in page) is (number == 2)


def test_a_repair_is_marked_with_the_text_that_failed(as_viewer, viewer, project, run):
    row = run.rounds.get(number=2)
    common = {"round": row, "command": ["/bin/sh"], "seconds": 1}
    ValidationResult.objects.create(
        number=1, exit_code=7, stdout="<b>no semicolon</b>", replaced="the <i>old</i> text", **common
    )
    ValidationResult.objects.create(number=2, exit_code=0, **common)
    page = as_viewer.get(reverse("run_round", args=[project.slug, run.pk, 2])).content.decode()
    assert "repaired after validation failed" in page
    assert "Validation: failed, exit code 7" in page
    assert "Validation of the repair: passed" in page
    assert "&lt;b&gt;no semicolon" in page
    assert "the &lt;i&gt;old&lt;/i&gt; text" in page
    path = f"/projects/{project.slug}/runs/{run.pk}/rounds/2"
    told = api_client(viewer, project, "viewer").get(path).json()
    assert told["repaired"] is True
    assert [entry["passed"] for entry in told["validations"]] == [False, True]
    assert told["validations"][0]["replaced"] == "the <i>old</i> text"
    assert (told["evaluator"]["runs"], told["evaluator"]["failed_runs"]) == (3, 1)
