"""`wiggum suite run`: invalid input, earlier experiments as the baseline, and a server."""

import json

import pytest

from refinement.cli.instances import remote_experiments
from refinement.engine.profiles import rubric_for
from refinement.execution.reports import report_advance
from refinement.models import Experiment, ExperimentRun, JudgeRecord, Project, Report, Run
from refinement.services.rubrics.editing import rubric_create
from tests.cli.conftest import called, told
from tests.experiments.stage import configurations_yaml
from tests.selectors.experiments.given import a_suite_of, an_experiment
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
TASKS = 6


@pytest.fixture
def version(project):
    return rubric_create(project=project, slug="wiggum", definition=rubric_for("wiggum"))


@pytest.fixture
def suite(project):
    return a_suite_of(project, TASKS)


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "configurations.yaml"
    path.write_text(configurations_yaml("A"))
    return path


@pytest.fixture
def ended(suite, version):
    """An experiment that has ended, after an earlier one that was better."""
    an_experiment(suite, {"A": [8] * TASKS}, version=version, name="Earlier")
    return an_experiment(suite, {"A": [7] * TASKS}, version=version, name="Now")


def test_another_suites_experiment_is_not_continued(project, ended):
    other = an_experiment(
        a_suite_of(project, 1, name="Other"), {"A": [8]}, version=ended.configurations.get().rubric_version
    )
    for name in ("answers", f"{other.suite_version.suite.slug}@2"):
        result = called("suite", "run", name, "--resume", other.pk)
        assert (result.exit_code, "is of the suite other@1" in result.stderr) == (4, True), result.stderr


def resumed(ended, *arguments):
    return called("suite", "run", "answers", "--resume", ended.pk, *arguments)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["answers"], 2, "pass --config FILE"),
        (["answers", "--config", "nowhere.yaml"], 4, "cannot read nowhere.yaml"),
        (["answers", "--resume", "1", "--fail-on", "slower"], 2, "use worse or below=X"),
        (["answers", "--resume", "1", "--baseline", "first"], 2, "an experiment's number, or latest"),
        (["answers", "--resume", "999"], 4, "there is no experiment 999"),
        (["nothing", "--config", "CONFIG"], 4, "no suite 'nothing'"),
        (["answers@9", "--config", "CONFIG"], 4, "has no version '9'"),
        (["answers", "--config", "CONFIG", "--baseline", "77"], 4, "there is no experiment 77"),
        (["answers", "--config", "CONFIG", "--junit", "no/such/file"], 2, "its folder does not exist"),
    ],
)
def test_what_is_refused_before_anything_runs(arguments, code, words, suite, version, config):
    result = called("suite", "run", *(str(config) if each == "CONFIG" else each for each in arguments))
    assert (result.exit_code, words in result.stderr) == (code, True), result.output
    assert not Experiment.objects.exists()


def test_all_problems_of_the_file_are_shown(tmp_path, suite):
    path = tmp_path / "bad.yaml"
    path.write_text("configurations:\n- name: A\n  producer: x\n- rubric: w\n")
    result = called("suite", "run", "answers", "--config", path)
    assert result.exit_code == 2
    assert [line.partition(": Line ")[2][:1] for line in result.stderr.splitlines()] == ["2", "3", "4"]


def test_a_table_for_people(ended):
    result = resumed(ended)
    assert result.exit_code == 0
    assert "A has a composite of 6.4 (6.4 to 6.4)." in result.stdout
    assert "Passed. No condition failed." in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--baseline", "latest", "--fail-on", "worse"], 1),
        (["--baseline", "latest"], 0),
        (["--fail-on", "below=6"], 0),
        (["--fail-on", "below=6.5"], 1),
    ],
)
def test_the_gate_is_the_exit_code(ended, arguments, code):
    result = resumed(ended, "--json", *arguments)
    assert result.exit_code == code
    assert json.loads(result.stdout)["gate"]["passed"] == (code == 0)


def test_the_last_experiment_is_the_baseline(ended):
    found = told(resumed(ended, "--baseline", "latest", "--json"))["configurations"][0]["against_baseline"]
    assert (found["difference"], found["verdict"]) == (-0.7, "worse")


def test_the_first_experiment_of_a_suite_has_nothing_to_compare_with(suite, version):
    first = an_experiment(suite, {"A": [7] * TASKS}, version=version)
    result = resumed(first, "--baseline", "latest", "--fail-on", "worse")
    assert result.exit_code == 0
    assert "no earlier experiment" in result.stderr


def test_without_a_score_the_code_is_that_of_something_out_of_reach(suite, version):
    broken = an_experiment(suite, {"A": [None] * TASKS}, version=version)
    result = resumed(broken)
    assert (result.exit_code, "A has no score" in result.stderr) == (3, True)


def test_an_experiment_that_was_stopped(ended, served):
    Experiment.objects.filter(pk=ended.pk).update(status="cancelled")
    result = resumed(ended)
    assert (result.exit_code, "was stopped" in result.stderr) == (130, True)


def test_on_a_server(served, suite, version, config, monkeypatch):
    """The server's workers are these lines: they end the runs, and compute the results."""

    def work(_seconds):
        ExperimentRun.objects.update(state="done", r1=7, best=7, criteria_met=1, criteria_total=2)
        Experiment.objects.update(status="finished", finished_at="2026-01-01T00:00Z")
        for report in Report.objects.all():
            report_advance(report.pk)

    monkeypatch.setattr("refinement.cli.suites.running.time.sleep", work)
    monkeypatch.setattr(remote_experiments.time, "sleep", work)
    summary = config.parent / "summary.md"
    found = called("suite", "run", "answers", "--config", config, "--json", "--summary", summary)
    printed = told(found)
    assert printed["configurations"][0]["composite"]["value"] == pytest.approx(6.4)
    assert f"/p/alpha/experiments/{printed['experiment']}/" in found.stderr
    assert "http://localhost/p/alpha/experiments/" in summary.read_text()


def test_ctrl_c_leaves_the_experiment_running_on_a_server(served, suite, version, config, monkeypatch):
    def interrupt(_seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr("refinement.cli.suites.running.time.sleep", interrupt)
    result = called("suite", "run", "answers", "--config", config)
    number = Experiment.objects.get().pk
    assert result.exit_code == 130
    said = f"continues on the server. To continue: wiggum suite run answers --resume {number}"
    assert said in result.stderr
    assert Experiment.objects.get().status == "running"


def test_an_unproven_judge_fails_the_gate_and_every_output_says_so(ended, version, project, tmp_path):
    """The project requires 100 labels; the judge of the experiment's runs has none."""
    Project.objects.filter(pk=project.pk).update(gate_labels=100)
    run = finished_run(project, ["7"], outcome="PASS", stop_reason="passed")
    Run.objects.filter(pk=run.pk).update(experiment=ended)
    cell = ExperimentRun.objects.filter(experiment=ended).first()
    ExperimentRun.objects.filter(pk=cell.pk).update(run=run)
    junit, summary = tmp_path / "junit.xml", tmp_path / "summary.md"
    result = resumed(ended, "--json", "--junit", junit, "--summary", summary)
    assert result.exit_code == 1, result.output
    told_now = json.loads(result.stdout)
    [entry] = told_now["configurations"]
    assert (entry["judge_proven"], entry["unproven_reason"]) == (False, "0 of 100 texts labelled")
    reason = "A has an unproven judge: 0 of 100 texts labelled."
    assert told_now["gate"] == {"passed": False, "fail_on": [], "failed": ["A"], "reasons": [reason]}
    assert reason in result.stderr
    assert reason in junit.read_text()
    assert reason in summary.read_text()
    assert "A (unproven judge)" in resumed(ended).stdout
    JudgeRecord.objects.filter(pk=run.judge_record_id).update(labels=100)
    proven = resumed(ended, "--json")
    assert (proven.exit_code, json.loads(proven.stdout)["configurations"][0]["judge_proven"]) == (0, True)
