"""Runs know their experiment and suite: list filters, API and exports."""

import pytest

from refinement.selectors.runs.exports import run_values
from refinement.selectors.runs.listing.filters import RunFilters, runs_found
from tests.services.experiments.given import an_experiment, dealt, end_all, going

pytestmark = pytest.mark.django_db


def test_runs_are_found_by_experiment_and_suite(project, api_viewer, monkeypatch):
    first, second = an_experiment(project, tasks=1), an_experiment(project, tasks=1)
    dealt(first, 2, monkeypatch)
    dealt(second, 2, monkeypatch)
    runs = [run.pk for run in going(first)]
    slug = first.suite_version.suite.slug
    for filters in (RunFilters(experiment=first.pk), RunFilters(suite=slug)):
        assert [run.pk for run in runs_found(project, filters)] == runs[::-1]
    for query in ({"experiment": first.pk}, {"suite": slug}):
        found = api_viewer.get("/projects/alpha/runs", query).json()["items"]
        assert [(run["id"], run["experiment"], run["suite"]) for run in found] == [
            (run, first.pk, slug) for run in runs[::-1]
        ]
    assert api_viewer.get(f"/projects/alpha/runs/{runs[0]}").json()["experiment"] == first.pk
    assert run_values(going(first)[0])["experiment"] == first.pk
    assert not runs_found(project, RunFilters(suite="nothing"))


def test_the_filter_reads_an_index(project, monkeypatch):
    experiment = an_experiment(project)
    end_all(experiment, monkeypatch)
    plan = runs_found(project, RunFilters(experiment=experiment.pk)).explain()
    assert "run_by_experiment" in plan
    assert "TEMP B-TREE" not in plan
