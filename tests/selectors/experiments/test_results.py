"""The report of an experiment: figures, comparisons, cells and the sentence above them."""

import os
import subprocess
import sys
import time
from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from refinement.execution.reports import experiments_again, report_advance, report_outdate, report_request
from refinement.execution.trust.keeping import figures_copy
from refinement.models import ExperimentRun, Report, ReportKind, Run
from refinement.selectors.experiments.reports.results import experiment_results
from refinement.selectors.experiments.reports.stored import stored_results
from refinement.services.experiments.reporting import results_wanted
from tests.house.processes import ROOT
from tests.selectors.experiments.given import a_suite_of, an_experiment
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
TYPES = ("how-to", "research")


def scores(seed: int, tasks: int = 40, more: float = 0) -> list[float]:
    """Scores around 7: tasks differ much, and configurations by a little noise."""
    tasks_own = np.random.default_rng(0).normal(7, 0.8, tasks)
    return list(np.round(tasks_own + more + np.random.default_rng(seed).normal(0, 0.15, tasks), 2))


@pytest.fixture
def compared(project):
    """B is better by 0.6 (0.42 composite), C is equal, and D is worse on how-to tasks only."""
    worse = [score - (0.8 if at % 2 == 0 else -0.3) for at, score in enumerate(scores(4))]
    suite = a_suite_of(project, 40, TYPES)
    return an_experiment(suite, {"A": scores(1), "B": scores(2, more=0.6), "C": scores(3), "D": worse})


def of(result, name):
    return next(entry for entry in result["configurations"] if entry["name"] == name)


def test_the_headline_says_what_is_better_the_same_and_worse(compared):
    result = experiment_results(compared.pk)
    assert [of(result, name)["against_baseline"]["verdict"] for name in "BCD"] == [
        *("better", "no_difference", "worse")
    ]
    first, *rest = result["headline"].split(". ")
    assert first.startswith("B is better than A by 0.42 (0.")
    assert rest == [rest[0], "For C no difference was shown", "D is better on research tasks."]
    assert result["comparisons"] == 9
    assert "at most 5 %" in result["chance"]


def test_figures_are_means_over_tasks_with_an_interval(compared):
    entry = of(experiment_results(compared.pk), "A")
    assert entry["against_baseline"] is None
    assert (entry["runs"], entry["done"], entry["scored"], entry["errors"], entry["missing"]) == (
        *(40, 40, 40, 0, 0),
    )
    mean = np.mean(scores(1))
    assert entry["mean_r1"]["value"] == pytest.approx(mean, abs=1e-6)
    assert entry["composite"]["value"] == pytest.approx(0.7 * mean + 0.3 * 5, abs=1e-6)
    assert entry["composite"]["low"] < entry["composite"]["value"] < entry["composite"]["high"]
    assert entry["criteria_rate"] == {"value": 0.5, "low": 0.5, "high": 0.5}
    assert entry["cost"] is None


def test_what_differs_from_the_baseline_is_listed(compared):
    compared.configurations.filter(name="C").update(producer_model="other:2b")
    result = experiment_results(compared.pk)
    changed = {"setting": "producer", "before": "ollama/writer:1b", "after": "ollama/other:2b"}
    assert [of(result, name)["changes"] for name in "ABC"] == [[], [], [changed]]


def test_what_has_no_score_is_counted_and_left_out_of_pairs(project):
    broken = [None, *scores(2, 10, more=1)[1:]]
    experiment = an_experiment(a_suite_of(project, 10), {"A": scores(1, 10), "B": broken})
    ExperimentRun.objects.filter(configuration__name="B", task__key="task-001").update(state="unscored")
    ExperimentRun.objects.filter(configuration__name="B", task__key="task-002").update(state="cancelled")
    result = experiment_results(experiment.pk)
    entry = of(result, "B")
    assert (entry["runs"], entry["done"], entry["scored"]) == (10, 9, 7)
    assert (entry["errors"], entry["unscored"], entry["missing"]) == (1, 1, 1)
    assert entry["against_baseline"]["tasks"] == 7
    states = {cell["task"]: cell["state"] for cell in result["cells"] if cell["configuration"] == entry["id"]}
    assert list(states.values())[:4] == ["error", "unscored", "missing", "done"]


def test_replaced_runs_count_no_more(project):
    experiment = an_experiment(a_suite_of(project, 6), {"A": [7] * 6})
    ExperimentRun.objects.filter(task__key="task-000").update(replaced=True, r1=0)
    result = experiment_results(experiment.pk)
    assert result["configurations"][0]["runs"] == 5
    assert result["configurations"][0]["mean_r1"]["value"] == 7


def test_repeats_make_one_cell_and_estimate_the_noise(project):
    repeated = {"A": [[7.0, 7.4]] * 10, "B": [[7.2, 7.6]] * 9 + [[4.0, 4.0]]}
    result = experiment_results(an_experiment(a_suite_of(project, 10), repeated).pk)
    assert result["noise"]["cells"] == 20
    cells = [cell for cell in result["cells"] if cell["configuration"] == of(result, "B")["id"]]
    first, last = cells[0], cells[-1]
    assert first["difference"] == pytest.approx(0.14)
    assert (first["low"], first["high"]) == pytest.approx((0.7 * 7.2 + 1.5, 0.7 * 7.6 + 1.5))
    assert first["spread_is_noise"]
    assert last["difference"] < -2
    assert not last["spread_is_noise"]


def test_with_few_tasks_there_is_no_verdict(project):
    result = experiment_results(an_experiment(a_suite_of(project, 3), {"A": [5] * 3, "B": [9] * 3}).pk)
    assert of(result, "B")["against_baseline"]["verdict"] == "not_enough"
    assert result["headline"] == "For B there are not enough scored tasks."


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ({"A": [None] * 5}, "No scores yet."),
        ({"A": [8] * 5}, "A has a composite of 7.1 (7.1 to 7.1)."),
        ({"X": [8] * 5, "Y": [9] * 5}, "Y has the highest composite of 7.8 (7.8 to 7.8). Choose a baseline"),
    ],
)
def test_without_a_comparison_the_headline_is_the_best_figure(project, rows, sentence):
    result = experiment_results(an_experiment(a_suite_of(project, 5), rows).pk)
    assert result["headline"].startswith(sentence)


def test_a_worker_computes_it_and_pages_read_what_is_stored(compared, project, django_assert_num_queries):
    assert stored_results(compared).result is None
    report = report_request(project=project, kind=ReportKind.EXPERIMENT, subject=compared.pk)
    assert stored_results(compared).is_pending
    assert report_advance(report.pk)
    with django_assert_num_queries(1):
        stored = stored_results(compared)
    assert stored.result == experiment_results(compared.pk)
    assert (stored.is_current, stored.is_pending) == (True, False)
    report_request(project=project, kind=ReportKind.EXPERIMENT, subject=compared.pk)
    assert not stored_results(compared).is_current


def test_each_further_run_that_ends_marks_it_as_outdated_without_reading_it(
    compared, project, django_assert_num_queries
):
    about = {"project_id": project.pk, "kind": ReportKind.EXPERIMENT, "subject": compared.pk}
    report_outdate(**about)
    with django_assert_num_queries(2):
        report_outdate(**about)
    assert Report.objects.get(kind=ReportKind.EXPERIMENT, subject=compared.pk).asked == 2


def test_ten_thousand_runs_are_computed_in_two_seconds(project):
    random = np.random.default_rng(5)
    rows = {name: np.round(random.normal(7, 1, (200, 5)), 2).tolist() for name in "ABCDEFGHIJ"}
    experiment = an_experiment(a_suite_of(project, 200, ("how-to", "research", "summary")), rows)
    experiment_results(experiment.pk)  # imports, and the draws
    started = time.process_time()
    result = experiment_results(experiment.pk)
    assert time.process_time() - started < 2
    assert len(result["cells"]) == 2_000


def test_the_web_process_does_not_import_numpy():
    script = (
        "import sys, django; django.setup()\n"
        "from django.urls import get_resolver; get_resolver().url_patterns\n"
        "import wiggum_site.asgi, wiggum_site.api\n"
        "import refinement.selectors.experiments.reports.stored\n"
        "import refinement.selectors.experiments.reports.history\n"
        "import refinement.selectors.trust.stored, refinement.services.trust.reports\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'numpy', 'scipy'}))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"},
    )  # fmt: skip
    assert result.stdout.strip() == "[]", result.stderr[-2000:]


def test_tasks_are_not_read_one_by_one(project, django_assert_num_queries):
    experiment = an_experiment(a_suite_of(project, 12), {"A": scores(1, 12), "B": scores(2, 12)})
    with django_assert_num_queries(6):
        experiment_results(experiment.pk)


def test_another_judge_makes_no_verdict_and_no_differences(compared):
    compared.configurations.filter(name="B").update(judge_model="other:70b")
    result = experiment_results(compared.pk)
    assert of(result, "B")["against_baseline"] == {
        "difference": None, "low": None, "high": None, "verdict": "not_comparable", "tasks": 0,
    }  # fmt: skip
    assert of(result["task_types"][0], "B")["against_baseline"]["verdict"] == "not_comparable"
    assert {
        cell["difference"] for cell in result["cells"] if cell["configuration"] == of(result, "B")["id"]
    } == {None}
    assert result["comparisons"] == 6  # the others share the 5 % among themselves
    assert "B does not compare with A: the judge or the rubric version differs." in result["headline"]


def test_the_last_figures_do_not_wait_for_the_pause(compared, project):
    def asked(**more):
        return report_request(project=project, kind=ReportKind.EXPERIMENT, subject=compared.pk, **more)

    report = asked()
    Report.objects.filter(pk=report.pk).update(
        status="waiting", next_try_at=timezone.now() + timedelta(hours=1), waiting_for="New results"
    )
    assert asked().status == "waiting"
    assert asked(at_once=True).status == "queued"
    assert report_advance(report.pk)


def test_a_report_of_an_earlier_version_is_computed_again(compared, project):
    report = report_request(project=project, kind=ReportKind.EXPERIMENT, subject=compared.pk)
    assert report_advance(report.pk)
    Report.objects.filter(pk=report.pk).update(result={"headline": "Old words."})
    assert not stored_results(compared).is_current
    assert results_wanted(compared).is_pending
    assert report_advance(report.pk)
    assert results_wanted(compared).result == experiment_results(compared.pk)


def test_a_judges_smallest_real_difference_counts_as_noise_and_new_figures_of_it_are_used(project):
    """Without repeats only the judge's part is known; when more is known, the report is computed again."""
    run = finished_run(project, ["7", "9"], outcome="PASS", stop_reason="passed")
    experiment = an_experiment(
        a_suite_of(project, 6), {"A": [7] * 6, "B": [5, 8, 7, 7, 7, 7]}, version=run.rubric_version
    )
    Run.objects.filter(pk=run.pk).update(experiment=experiment)
    request = {"project": project, "kind": ReportKind.EXPERIMENT, "subject": experiment.pk}
    report = report_request(**request)
    report_advance(report.pk)
    assert Report.objects.get(pk=report.pk).result["noise"] is None

    record = run.judge_record
    figure = {"value": 1.0, "low": None, "high": None}
    whole = {
        **dict.fromkeys(("kappa", "alpha", "bias"), None),
        "smallest_difference": figure, "worse_than_people": None,
    }  # fmt: skip
    measured = {"labels": 0, "composite": whole, "criteria": []}
    assert figures_copy(record.pk, measured, timezone.now())
    assert not figures_copy(record.pk, measured, timezone.now())
    experiments_again(record.pk)
    assert not Report.objects.get(pk=report.pk).is_current
    report_advance(report.pk)
    found = Report.objects.get(pk=report.pk).result
    assert found["noise"]["judge_difference"] == found["noise"]["smallest_difference"] == pytest.approx(1.0)
    assert found["judges"][0]["name"] == record.name
    cells = {(cell["task"], cell["value"]): cell["spread_is_noise"] for cell in found["cells"]}
    assert cells["task-000", 5.0] is False  # 1.4 below the baseline: more than the judge's noise
    assert cells["task-001", 7.1] is True
