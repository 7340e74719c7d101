"""What an experiment's pages say about rounds, missing scores, unchecked judges and a suite's history."""

import pytest
from django.urls import reverse

from refinement.models import Configuration, ExperimentRun
from refinement.selectors.experiments.reports.results import experiment_results
from tests.selectors.experiments.given import a_suite_of, an_experiment
from tests.views.experiments.test_page import better, computed, page_of

pytestmark = pytest.mark.django_db
ROUNDS = "differ only in rounds, which cannot change the first pass"


def test_configurations_that_differ_only_in_rounds_are_compared_by_their_best_score(as_viewer, project):
    experiment = better(project)
    assert ROUNDS not in as_viewer.get(page_of(experiment)).content.decode()
    rows = Configuration.objects.filter(experiment=experiment)
    rows.filter(name="B").update(changes={"policy.max_rounds": 5})
    rows.filter(name="D").update(changes={"policy.max_rounds": 5}, producer_model="other:1b")
    html = as_viewer.get(page_of(experiment)).content.decode()
    assert f"B and A {ROUNDS}" in html
    assert f"D and A {ROUNDS}" not in html
    entries = {
        entry["name"]: entry["best"]["value"] for entry in experiment_results(experiment.pk)["configurations"]
    }
    assert f"Best scores are {entries['B']:.2f} and {entries['A']:.2f}." in html


def test_a_finished_experiment_says_how_many_runs_have_no_score(as_viewer, project):
    experiment = better(project)
    address = reverse("experiment_list", args=[project.slug])
    assert "all 72 runs scored" in as_viewer.get(address).content.decode()
    rows = ExperimentRun.objects.filter(experiment=experiment).values_list("pk", flat=True)
    ExperimentRun.objects.filter(pk__in=list(rows[:1])).update(state="cancelled", r1=None)
    ExperimentRun.objects.filter(pk__in=list(rows[1:3])).update(state="waiting", r1=None)
    assert "3 of 72 runs without a score" in as_viewer.get(address).content.decode()
    assert "69 scored, 3 not run" in as_viewer.get(page_of(experiment)).content.decode()


def test_a_judge_that_nobody_checked_is_marked_in_the_facts(as_viewer, project):
    html = as_viewer.get(page_of(better(project))).content.decode()
    facts = html.split('<dl class="facts experiment-facts">')[1].split("</dl>")[0]
    assert "not compared with people" in facts
    assert reverse("label_set_list", args=[project.slug]) in facts


def test_a_history_offers_lines_from_two_experiments_on(as_viewer, project):
    suite = a_suite_of(project, 6)
    first = computed(an_experiment(suite, {"A": [5.0] * 6}))
    address = reverse("suite_history", args=[project.slug, suite.suite.slug])
    html = as_viewer.get(address).content.decode()
    assert "A line needs two experiments." in html
    assert "A line joins" not in html
    version = first.configurations.get().rubric_version
    computed(an_experiment(suite, {"A": [6.0] * 6}, version=version))
    html = as_viewer.get(address).content.decode()
    assert "A line joins" in html
    assert '<span class="table-label">Judge </span>' in html


def test_a_task_leads_to_the_largest_regression(as_viewer, project):
    experiment = better(project)
    address = reverse("experiment_cell", args=[project.slug, experiment.pk, 1])
    html = as_viewer.get(address).content.decode()
    assert "Largest of 1 regression →" in html
    last = reverse("experiment_cell", args=[project.slug, experiment.pk, 12])
    assert "1 of 1 regression</span>" in as_viewer.get(last).content.decode()
