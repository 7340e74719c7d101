"""Two experiments compared, what a configuration is, and a suite over time."""

import numpy as np
import pytest

from refinement.execution.reports import report_advance, report_request
from refinement.interchange.suites.types import SuiteTaskText
from refinement.models import Configuration, Report, ReportKind
from refinement.selectors.experiments.identity import differences, line_of, partner_of
from refinement.selectors.experiments.reports.comparisons import experiments_compared
from refinement.selectors.experiments.reports.history import suite_history
from refinement.services.experiments.reporting import comparison_wanted
from refinement.services.suites.editing import version_save
from tests.models.given import a_version
from tests.selectors.experiments.given import a_suite_of, an_experiment
from tests.services.suites.given import a_task

pytestmark = pytest.mark.django_db
TASKS = 20


def around(score: float, seed: int) -> list[float]:
    return list(np.round(np.random.default_rng(seed).normal(score, 0.2, TASKS), 2))


@pytest.fixture
def version(project):
    return a_version(project)


@pytest.fixture
def suite(project):
    return a_suite_of(project, TASKS)


@pytest.fixture
def before(suite, version):
    return an_experiment(suite, {"A": around(7, 1), "B": around(7, 2)}, version=version, name="Before")


def compute(*experiments):
    for experiment in experiments:
        report = report_request(project=experiment.project, kind=ReportKind.EXPERIMENT, subject=experiment.pk)
        report_advance(report.pk)


def test_configurations_are_paired_and_compared_over_the_same_tasks(suite, version, before):
    after = an_experiment(suite, {"A": around(6, 3), "B": around(7, 4)}, version=version, name="After")
    found = experiments_compared(after.pk, before.pk)
    worse, same = found["pairs"]
    assert (worse["against_baseline"]["verdict"], worse["against_baseline"]["tasks"]) == ("worse", TASKS)
    assert worse["against_baseline"]["difference"] == pytest.approx(-0.7, abs=0.1)
    assert same["against_baseline"]["verdict"] == "no_difference"
    assert found["headline"] == "A is worse than before. For B no difference was shown."
    lost = [entry["difference"] for entry in worse["regressions"]]
    assert lost == sorted(lost)
    assert worse["regressions"][0]["value"] < worse["regressions"][0]["other"]


def test_scores_of_another_judge_or_rubric_do_not_compare(project, suite, version, before):
    other = a_version(project, slug="other")
    after = an_experiment(suite, {"A": around(5, 3), "B": around(7, 4)}, version=version, name="After")
    first, second = after.configurations.order_by("position")
    Configuration.objects.filter(pk=first.pk).update(judge_model="judge:1b")
    Configuration.objects.filter(pk=second.pk).update(rubric_version=other)
    found = experiments_compared(after.pk, before.pk)
    assert [pair["not_comparable"] for pair in found["pairs"]] == [
        "the judge changed (judge:8b → judge:1b)",
        "the rubric version changed",
    ]
    assert {pair["against_baseline"]["verdict"] for pair in found["pairs"]} == {"not_comparable"}
    assert [pair["regressions"] for pair in found["pairs"]] == [[], []]
    assert found["headline"] == (
        "A does not compare: the judge changed (judge:8b → judge:1b). "
        "B does not compare: the rubric version changed."
    )


def test_tasks_whose_text_changed_do_not_count(project, suite, version, before, editor):
    texts: list[SuiteTaskText] = [a_task(f"task-{at:03}") for at in range(1, TASKS)]
    texts[0] = a_task("task-001", task="Explain something else.")
    edited = version_save(
        suite=suite.suite, tasks=[*texts, a_task("new")], edited_from=suite.number, user=editor, note=""
    )
    after = an_experiment(edited, {"A": around(7, 3)}, version=version)
    found = experiments_compared(after.pk, before.pk)
    assert found["changed_tasks"] == ["task-001"]
    assert (found["tasks_only_here"], found["tasks_only_there"]) == (["new"], ["task-000"])
    assert found["pairs"][0]["against_baseline"]["tasks"] == found["tasks"] == TASKS - 2


def test_partners_by_what_they_run_then_by_name_then_the_baseline(suite, version, before):
    first, second = before.configurations.order_by("position")
    Configuration.objects.filter(pk=second.pk).update(changes={"policy.max_rounds": "2"})
    other = an_experiment(
        suite, {"X": around(7, 1), "B": around(7, 1), "Y": around(7, 1)}, version=version, baseline="X",
        producer_model="other",
    )  # fmt: skip
    exact, named, neither = other.configurations.order_by("position")
    Configuration.objects.filter(pk=exact.pk).update(producer_model=first.producer_model)
    before_all = list(before.configurations.order_by("position"))
    for entry in (second, exact, named, neither):
        entry.refresh_from_db()
    assert partner_of(exact, before_all) == (first, "exact")
    assert partner_of(named, before_all) == (second, "name")
    assert partner_of(neither, before_all) == (None, "")
    neither.baseline = True
    assert partner_of(neither, before_all) == (first, "baseline")
    assert differences(second, named) == [
        {"setting": "producer", "before": "ollama/writer:1b", "after": "ollama/other"},
        {"setting": "set.policy.max_rounds", "before": "2", "after": ""},
    ]
    assert line_of(first, "models") == line_of(second, "models")
    assert line_of(first, "exact") != line_of(second, "exact")


def test_a_comparison_is_computed_again_when_an_experiment_changed(suite, version, before):
    after = an_experiment(suite, {"A": around(7, 3)}, version=version)
    compute(before, after)
    assert comparison_wanted(after, before).is_pending
    report = Report.objects.get(kind=ReportKind.COMPARISON)
    assert (report.subject, report.other) == (after.pk, before.pk)
    report_advance(report.pk)
    stored = comparison_wanted(after, before)
    assert (stored.is_pending, stored.result["experiment"]["id"]) == (False, after.pk)
    compute(before)
    assert comparison_wanted(after, before).is_pending


def test_history_joins_what_is_the_same(suite, version, before, django_assert_num_queries):
    after = an_experiment(suite, {"A": around(7, 3)}, version=version, name="After", producer_model="new")
    an_experiment(suite, {"A": around(7, 5)}, version=version, name="Not computed")
    compute(before, after)
    with django_assert_num_queries(3):
        found = suite_history(suite.suite)
    assert [(point["name"], point["letter"]) for point in found["points"]] == [
        *(("Before", "A"), ("Before", "B"), ("After", "A"))
    ]
    assert [line["points"] for line in found["lines"]] == [1, 2]
    assert found["lines"][0]["label"] == "Wiggum six dimensions · new · judge judge:8b"
    low, value, high = (found["points"][0]["composite"][name] for name in ("low", "value", "high"))
    assert low < value < high
