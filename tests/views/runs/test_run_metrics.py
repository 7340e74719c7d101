"""Metrics and contract violations of a run, on its page, shared, in files and in the API."""

import csv
import io
import json
from dataclasses import replace

import pytest
from django.urls import reverse

from refinement.engine.profiles import rubric_for
from refinement.engine.types import EvaluationMode, Evaluator, Metric
from refinement.models import EvaluatorResult, Project, Round, Run, Verdict
from refinement.selectors.runs.reports import run_report
from refinement.services.imports.uploads import SourceFile, import_files
from refinement.services.runs.shares import share_link_make
from tests.api.conftest import api_client
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script> loss"
REASON = "The JSON does not follow its schema at $.age: <b>'x'</b> is not of type 'integer'."
RUBRIC = replace(
    rubric_for("wiggum"),
    checks=(),
    evaluation_mode=EvaluationMode.RUNNABLE,
    evaluator=Evaluator(
        ("score", "{file}"),
        metrics=(Metric("accuracy", pattern="(.)"), Metric(HOSTILE, pointer="/a", lower_is_better=True)),
    ),
)


@pytest.fixture
def run(project, settings):
    settings.COMMANDS = ["*"]
    run = finished_run(project, ["7", "0", "8"], definition=RUBRIC)
    found = ({"accuracy": ["0.75"], HOSTILE: ["3"]}, {"accuracy": [], HOSTILE: []})
    for row, metrics in zip(run.rounds.order_by("number"), found, strict=False):
        EvaluatorResult.objects.create(
            round=row, command=["score", "{file}"], exit_code=0, stdout="out", seconds=1, metrics=metrics
        )
    EvaluatorResult.objects.create(
        round=run.rounds.get(number=3),
        command=["score", "{file}"],
        exit_code=0,
        stdout="out",
        seconds=1,
        metrics={"accuracy": ["0.8", "0.9", "0.7"], HOSTILE: ["1"]},
    )
    scores = dict.fromkeys(run.rounds.get(number=2).scores, "0")
    Round.objects.filter(run=run, number=2).update(contract_violation=REASON, penalties=[], scores=scores)
    Round.objects.filter(run=run, number=3).update(signals=[])
    verdict = Verdict.objects.get(round__run=run, round__number=2)
    Verdict.objects.filter(pk=verdict.pk).update(scores=[entry | {"score": "6"} for entry in verdict.scores])
    return run


def body(answer):
    return b"".join(answer.streaming_content).decode()


def test_the_page_draws_a_small_chart_for_each_metric(as_viewer, project, run):
    page = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/").content.decode()
    assert (
        page.count('<svg xmlns="http://www.w3.org/2000/svg" class="chart chart-metric"') == 4
    )  # wide, narrow
    assert 'id="metric-0-words">Round 1 0.75; Round 2 not found; Round 3 0.8 (0.7 to 0.9)<' in page
    assert "lower is better" in page
    assert '<td class="number">not found</td>' in page
    assert "<script>alert" not in page
    assert "contract violated" in page


def test_a_run_without_metrics_has_no_such_chart(as_viewer, project):
    plain = finished_run(project)
    page = as_viewer.get(f"/p/{project.slug}/runs/{plain.pk}/").content.decode()
    assert "chart-metric" not in page


def test_the_round_names_the_violation_and_the_metrics(as_viewer, project, run):
    page = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/rounds/2/").content.decode()
    assert "<b>Output contract violated:</b>" in page
    assert "&lt;b&gt;&#x27;x&#x27;&lt;/b&gt; is not of type" in page
    assert "the violated output contract made it 0" in page
    third = as_viewer.get(f"/p/{project.slug}/runs/{run.pk}/rounds/3/").content.decode()
    assert "Output contract violated" not in third
    assert '<dd class="num">0.8 (0.7 to 0.9)</dd>' in third


def test_a_shared_page_has_them_too(client, run, editor):
    token = share_link_make(run=run, by=editor, days=7)[1]
    page = client.get(f"/s/{token}/").content.decode()
    assert page.count("chart chart-metric") == 4
    shown = client.get(reverse("shared_round", args=[token, 2])).content.decode()
    assert "<b>Output contract violated:</b>" in shown


def test_refine_json_has_them_for_each_round(run):
    first, second, third = run_report(run)["rounds"]
    assert first["metrics"] == {"accuracy": 0.75, HOSTILE: 3.0}
    assert second["metrics"] == {"accuracy": None, HOSTILE: None}
    assert third["metrics"]["accuracy"] == 0.8
    assert [entry["contract_violated"] for entry in (first, second, third)] == [False, True, False]
    assert second["contract_violation"] == REASON


def test_the_api_has_them(viewer, project, run):
    api_viewer = api_client(viewer, project, "viewer")
    items = api_viewer.get(f"/projects/alpha/runs/{run.pk}/rounds").json()["items"]
    assert items[2]["metrics"]["accuracy"] == {
        "value": "0.8", "low": "0.7", "high": "0.9", "values": ["0.8", "0.9", "0.7"],
    }  # fmt: skip
    assert items[1]["metrics"] == {"accuracy": None, HOSTILE: None}
    assert [item["contract_violated"] for item in items] == [False, True, False]
    one = api_viewer.get(f"/projects/alpha/runs/{run.pk}/rounds/2").json()
    assert (one["metrics"], one["contract_violation"]) == (items[1]["metrics"], REASON)


def test_the_runs_file_has_them_and_brings_them_back(as_viewer, run):
    document = body(as_viewer.get(reverse("run_export", args=["alpha", run.pk, "json"])))
    rounds = json.loads(document)["rounds"]
    assert rounds[0]["evaluator"]["metrics"] == {"accuracy": ["0.75"], HOSTILE: ["3"]}
    assert rounds[1]["contract_violation"] == REASON
    there = Project.objects.create(name="Elsewhere", slug="elsewhere")
    (entry,) = import_files([SourceFile("run.json", document.encode())], project=there).entries
    assert (entry.state, entry.contradictions) == ("new", ())
    copy = Run.objects.get(pk=entry.run)
    assert run_report(copy)["rounds"][1]["contract_violated"] is True
    stored = EvaluatorResult.objects.filter(round__run=copy).order_by("round__number")
    assert [row.metrics["accuracy"] for row in stored] == [["0.75"], [], ["0.8", "0.9", "0.7"]]


@pytest.mark.parametrize("number", ["nan", "1e999", "", "one", "9" * 50])
def test_a_file_with_a_number_that_is_none_is_refused(as_viewer, run, number):
    document = json.loads(body(as_viewer.get(reverse("run_export", args=["alpha", run.pk, "json"]))))
    document["rounds"][0]["evaluator"]["metrics"]["accuracy"] = [number]
    there = Project.objects.create(name="Elsewhere", slug="elsewhere")
    file = SourceFile("run.json", json.dumps(document).encode())
    (entry,) = import_files([file], project=there).entries
    assert entry.state != "new"
    assert not Run.objects.filter(project=there).exists()


def test_the_report_has_them(as_viewer, run):
    text = body(as_viewer.get(reverse("run_export", args=["alpha", run.pk, "md"])))
    assert "0.8 (0.7 to 0.9)" in text
    assert "not found" in text
    assert "Output contract violated: The JSON does not follow its schema" in text
    assert "output contract violated" in text
    assert "<script>" not in text


def test_lists_of_runs_have_them(as_viewer, project, run):
    lines = csv.DictReader(io.StringIO(body(as_viewer.get("/p/alpha/runs/export/csv/")), newline=""))
    (line,) = lines
    assert line["metrics"] == f"accuracy: 0.75 not_found 0.8; {HOSTILE}: 3 not_found 1"
    assert line["contract_violations"] == "1"
    (record,) = body(as_viewer.get("/p/alpha/runs/export/jsonl/")).splitlines()
    exported = json.loads(record)
    assert exported["wiggum_metrics"]["r3"] == {"accuracy": 0.8, HOSTILE: 1}
    assert exported["wiggum_metrics"]["r2"] == {"accuracy": None, HOSTILE: None}
    assert exported["wiggum_contract_violations"] == {"r2": REASON}
