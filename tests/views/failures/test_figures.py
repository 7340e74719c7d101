"""Shares are of the runs that scored the criterion, and issues that come back later are counted."""

import csv

import pytest
from django.urls import reverse

from refinement.models import FailureCategory, FailureIssue, Run
from tests.services.experiments.given import an_experiment
from tests.views.failures.given import brought_up_to_date, criticised
from tests.views.runs.listed import runs_of

pytestmark = pytest.mark.django_db
ISSUE = ["The claim has no source.", "This claim lacks a source.", "The claim is without any source."]
OTHER = ["The rollback steps are missing."]


def only_category(project) -> FailureCategory:
    """One category of the criterion depth with all issues."""
    row = FailureCategory.objects.create(project=project, automatic_name="No source", criterion="depth")
    FailureIssue.objects.filter(excerpt__in=ISSUE).update(category=row, again=False)
    return row


def test_runs_without_a_score_are_not_in_the_share(as_viewer, project):
    for n in range(3):
        criticised(project, [[ISSUE[n]]])
    criticised(project, [OTHER])
    brought_up_to_date(project)
    row = only_category(project)
    runs_of(project, best_round=None, outcome="ERROR")
    found = as_viewer.get("/api/v1/projects/alpha/failures").json()
    entry = next(entry for entry in found["categories"] if entry["id"] == row.pk)
    assert found["runs"] == 5
    assert (entry["runs"], entry["scored"], entry["share"]) == (3, 4, 0.75)
    text = as_viewer.get(reverse("failure_page", args=[project.slug])).content.decode()
    assert '75 % <span class="small faint">3 of 4</span>' in text


def test_an_issue_that_comes_back_two_rounds_later_is_counted(as_viewer, project):
    for n in range(3):
        criticised(project, [[ISSUE[n]], OTHER, [ISSUE[n - 1]] if n < 2 else OTHER])
    brought_up_to_date(project)
    row = only_category(project)
    found = as_viewer.get("/api/v1/projects/alpha/failures").json()
    entry = next(entry for entry in found["categories"] if entry["id"] == row.pk)
    assert (entry["followed"], entry["fixed"], entry["came_back"]) == (3, 3, 2)
    page = reverse("failure_category", args=[project.slug, row.pk])
    text = as_viewer.get(f"{page}?window=300").content.decode()
    assert "3 of 3; 2 came back later" in text
    assert text.count("came back in round 3") == 2
    assert text.count("not raised in round 2") == 1


def test_a_category_says_how_many_of_its_runs_are_of_experiments(as_viewer, project):
    experiment = an_experiment(project)
    criticised(project, [[ISSUE[0]]])
    for n in range(2):
        criticised(project, [[ISSUE[n]]], experiment=experiment, suite=experiment.suite_version.suite)
    brought_up_to_date(project)
    page = reverse("failure_category", args=[project.slug, only_category(project).pk])
    text = as_viewer.get(page).content.decode()
    assert "3 issues in 3 runs" in text
    assert "2 of these runs are of experiments" in text
    assert "1 issue in 1 run ·" in as_viewer.get(f"{page}?window=300").content.decode()


def test_a_criterion_has_one_denominator_everywhere(as_viewer, project):
    """Runs that have the issue without a score on its criterion are said, and not added to the others."""
    scored = [criticised(project, [[ISSUE[n]]]) for n in range(3)]
    unscored = criticised(project, [[ISSUE[0]]])
    row = unscored.rounds.get()
    row.scores.pop("depth")
    row.save()
    brought_up_to_date(project)
    category = only_category(project)
    FailureIssue.objects.filter(run=scored[0]).update(category=None)
    page = reverse("failure_page", args=[project.slug])
    export = as_viewer.get(reverse("failure_export", args=[project.slug, "csv"]))
    [line] = csv.DictReader(b"".join(export.streaming_content).decode().splitlines()[:2])
    assert [line[name] for name in ("runs", "scored", "runs_without_score")] == ["2", "3", "1"]
    found = as_viewer.get("/api/v1/projects/alpha/failures").json()
    entry = next(entry for entry in found["categories"] if entry["id"] == category.pk)
    counts = [entry[name] for name in ("runs", "scored", "runs_without_score")]
    depth = next(row for row in found["criteria"] if row["criterion"] == "Depth")
    assert (counts, depth["runs"]) == ([2, 3, 1], 3)
    text = as_viewer.get(page).content.decode()
    assert '67 % <span class="small faint">2 of 3</span>' in text
    assert "+ 1 not scored" in text
    own = as_viewer.get(reverse("failure_category", args=[project.slug, category.pk]) + "?window=300")
    assert "2 of 3 that scored Depth; 1 more did not score it" in own.content.decode()


def test_an_editor_stays_among_the_runs_of_the_filter(as_editor, project):
    for n in range(3):
        criticised(project, [[ISSUE[n], ISSUE[n - 1]]])
    brought_up_to_date(project)
    source = only_category(project)
    rollback = FailureCategory.objects.create(project=project, automatic_name="Rollback", criterion="depth")
    Run.objects.filter(pk=source.issues.first().run.pk).update(producer_model="other:1b")
    query = "?producer=other%3A1b&window=300"
    address = reverse("failure_category", args=[project.slug, source.pk])
    html = as_editor.get(address + query).content.decode()
    assert "2 issues</span>" in html.split("Make it a check")[1].split("</details>")[0]
    choice = html.split('id="merge-into"')[1].split("</select>")[0]
    assert '<option value="">Choose a category</option>' in choice
    assert "Rollback (Depth)</option>" in choice
    for name, number, given in (
        ("failure_edit", source.pk, {"edition": source.edition, "name": "No source", "note": ""}),
        ("failure_merge", rollback.pk, {"into": source.pk}),
    ):
        answer = as_editor.post(reverse(name, args=[project.slug, number]) + query, given)
        assert answer.headers["Location"] == address + query
        assert reverse(name, args=[project.slug, source.pk]) + query.replace("&", "&amp;") in html


def test_reasons_that_mean_the_same_count_together(as_viewer, project):
    for reason in ("passed", "quality_threshold_met"):
        criticised(project, [ISSUE], outcome="PASS", stop_reason=reason)
    html = (
        as_viewer.get(reverse("failure_page", args=[project.slug]) + "?tab=stops")
        .content.decode()
        .split("Why runs stopped")[1]
    )
    assert html.count("Pass mark reached") == 1
    assert '<td class="number" data-label="Runs"><strong>2</strong></td>' in html
