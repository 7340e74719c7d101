"""Results of experiments by the API: figures, cells, exports, comparisons and history."""

import csv
import io

import pytest

from refinement.execution.reports import report_advance
from refinement.models import ExperimentRun, Report
from refinement.services.experiments.reporting import comparison_wanted, reports_clean, results_wanted
from refinement.services.reviews.blind_readings import blind_reading_begin
from tests.models.given import a_version
from tests.selectors.experiments.given import a_suite_of, an_experiment
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
ROOT = "/projects/alpha/experiments"
TASKS = 6


@pytest.fixture
def version(project):
    return a_version(project)


@pytest.fixture
def suite(project):
    return a_suite_of(project, TASKS)


@pytest.fixture
def experiment(suite, version):
    return an_experiment(suite, {"A": [[7, 7.2]] * TASKS, "B": [[8, 8.2]] * TASKS}, version=version)


def compute():
    for report in Report.objects.exclude(status="done"):
        report_advance(report.pk)


def test_results_are_computed_once_and_then_read(api_viewer, experiment, django_assert_max_num_queries):
    address = f"{ROOT}/{experiment.pk}/results"
    first = api_viewer.get(address).json()
    assert (first["results"], first["is_current"], first["computed_at"]) == (None, False, None)
    compute()
    with django_assert_max_num_queries(12):
        found = api_viewer.get(address).json()
    assert (found["status"], found["is_current"]) == ("done", True)
    better = found["results"]["configurations"][1]
    assert better["against_baseline"]["verdict"] == "better"
    assert better["against_baseline"]["difference"] == pytest.approx(0.7)
    assert found["results"]["headline"].startswith("B is better than A by 0.7")
    assert Report.objects.count() == 1


def test_the_repeats_of_a_cell(api_viewer, experiment):
    configuration = experiment.configurations.get(name="B")
    query = {"task": "task-001", "configuration": configuration.pk}
    runs = api_viewer.get(f"{ROOT}/{experiment.pk}/cell", query).json()["runs"]
    assert [(run["repeat"], run["r1"]) for run in runs] == [(1, 8.0), (2, 8.2)]
    assert runs[0]["composite"] == pytest.approx(0.7 * 8 + 1.5)
    missing = api_viewer.get(f"{ROOT}/{experiment.pk}/cell", {**query, "task": "none"})
    assert missing.status_code == 404


@pytest.mark.parametrize(
    ("form", "words"),
    [("json", b"B is better than A"), ("md", b"B is better than A"), ("leaderboard", b"B,B,judge:8b,12,")],
)
def test_figures_are_exported_once_they_are_computed(api_viewer, experiment, form, words):
    address = f"{ROOT}/{experiment.pk}/export/{form}"
    assert api_viewer.get(address).status_code == 404
    compute()
    assert words in b"".join(api_viewer.get(address).streaming_content)


def test_every_run_is_exported_as_csv(api_viewer, experiment):
    answer = api_viewer.get(f"{ROOT}/{experiment.pk}/export/runs")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert len(rows) == 2 * 2 * TASKS
    assert (rows[0]["task"], rows[0]["configuration"], rows[0]["r1"]) == ("task-000", "A", "7")


def test_experiments_are_compared(api_viewer, experiment, suite, version):
    other = an_experiment(suite, {"A": [7] * TASKS}, version=version, name="Before")
    address = f"{ROOT}/{experiment.pk}/compare/{other.pk}"
    assert api_viewer.get(address).json()["comparison"] is None
    compute()
    found = api_viewer.get(address).json()
    assert found["comparison"]["other"]["name"] == "Before"
    assert found["comparison"]["pairs"][0]["matched_by"] == "exact"
    assert api_viewer.get(f"{ROOT}/{experiment.pk}/compare/{experiment.pk}").status_code == 404


def test_a_suite_over_time(api_viewer, experiment):
    api_viewer.get(f"{ROOT}/{experiment.pk}/results")
    compute()
    found = api_viewer.get("/projects/alpha/suites/answers/history", {"by": "exact"}).json()
    assert [point["letter"] for point in found["points"]] == ["A", "B"]
    assert (len(found["lines"]), found["by"]) == (1, "exact")


def test_reports_of_a_deleted_experiment_are_deleted(experiment, suite, version):
    other = an_experiment(suite, {"A": [7] * TASKS}, version=version, name="Other")
    results_wanted(experiment)
    results_wanted(other)
    comparison_wanted(other, experiment)
    assert reports_clean() == 0
    experiment.delete()
    assert reports_clean() == 2
    assert [report.subject for report in Report.objects.all()] == [other.pk]


def test_who_scores_a_run_blind_sees_no_figures_of_its_experiment(api_viewer, experiment, project, viewer):
    run = finished_run(project)
    cell = ExperimentRun.objects.filter(experiment=experiment, task__key="task-001").first()
    ExperimentRun.objects.filter(pk=cell.pk).update(run=run)
    compute()
    blind_reading_begin(run=run, number=1, user=viewer)
    cell_query = {"task": "task-001", "configuration": cell.configuration_id}
    for path, query in (("results", None), ("export/runs", None), ("cell", cell_query)):
        assert api_viewer.get(f"{ROOT}/{experiment.pk}/{path}", query).status_code in (403, 409)
    history = api_viewer.get("/projects/alpha/suites/answers/history").json()
    assert history["points"] == []
    runs = api_viewer.get(f"{ROOT}/{experiment.pk}/runs").json()["items"]
    assert {(row["r1"], row["passed"], row["rounds"], row["tokens"]) for row in runs} == {(None, False, 0, 0)}
