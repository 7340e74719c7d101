"""The trust page of one judge."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from refinement.models import BlindReading, JudgeRecord, LabelRater, Project, Report, ReportStatus
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.rubrics.editing import version_create
from refinement.views.trust.polling import MOST_LOOKS
from tests.selectors.trust.given import a_gap, a_judge, a_labelled_text, a_version, apart, reported
from tests.selectors.trust.reports import a_full_report, a_report, an_entry
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def judge(project):
    return a_judge(project)


@pytest.fixture
def page(project, judge):
    return reverse("trust_page", args=[project.slug, judge.pk])


def shown(client, page, **extra):
    answer = client.get(page, **extra)
    assert answer.status_code == 200
    return answer.content.decode()


def test_without_a_report_it_asks_for_one_and_looks_again(as_viewer, page, judge):
    text = shown(as_viewer, page)
    assert Report.objects.get(kind="trust", subject=judge.pk).status == "queued"
    assert "A worker is computing the figures" in text
    assert f'hx-get="{page}?look=1"' in text


def test_looking_again_stops_by_itself(as_viewer, page):
    shown(as_viewer, page)
    assert "hx-trigger" in shown(as_viewer, f"{page}?look={MOST_LOOKS - 1}", **HTMX)
    last = shown(as_viewer, f"{page}?look={MOST_LOOKS}", **HTMX)
    assert "hx-trigger" not in last
    assert "Is a worker running?" in last


def test_once_computed_it_does_not_look_again(as_viewer, page, judge):
    reported(judge)
    text = shown(as_viewer, page, **HTMX)
    assert "hx-trigger" not in text
    assert "<html" not in text
    assert "Computed" in text


def test_old_figures_stay_while_newer_ones_are_computed(as_viewer, page, judge):
    row = reported(judge)
    Report.objects.filter(pk=row.pk).update(status="running")
    text = shown(as_viewer, page)
    assert "Updating. These figures are from" in text
    assert "Upgrade steps" in text


def test_a_failed_computation_says_why(as_viewer, page, judge):
    reported(judge, status=ReportStatus.FAILED, error="The worker stopped.")
    assert "The worker stopped." in shown(as_viewer, page)


def test_it_shows_the_answer_the_evidence_and_every_figure(as_viewer, page, judge):
    reported(judge)
    text = shown(as_viewer, page)
    for words in (
        "where it scores about ",
        "Enough texts for a verdict. 100 are needed for a gate rule.",
        "No gate rule is set.",
        "✓</span> not worse than people",
        "✕</span> not usable yet",
        "0.58 to 0.78",
        "All figures as a table",
        "It rewards longer texts.",
        "It prefers texts by its own family.",
        "Raw scores read about 0.47 points too high.",
        "Judge against people",
    ):
        assert words in text, words


def test_it_says_whether_the_judge_passes_the_gate_rule(as_owner, as_viewer, page, project, judge):
    reported(judge)
    settings = reverse("project_settings", args=[project.slug])
    assert f'href="{settings}#gate"' in shown(as_owner, page)
    assert f'href="{settings}#gate"' not in shown(as_viewer, page)
    JudgeRecord.objects.filter(pk=judge.pk).update(worse_than_people=True)
    assert "This judge would not pass “not worse than people”." in shown(as_viewer, page)
    Project.objects.filter(pk=project.pk).update(gate_labels=70)
    assert "It passes the gate rule." in shown(as_viewer, page)
    Project.objects.filter(pk=project.pk).update(gate_labels=100)
    assert "It does not pass the gate rule: 78 of 100 texts labelled." in shown(as_owner, page)


def test_patterns_lead_the_disagreements(as_viewer, page, judge):
    items = [a_labelled_text(judge, key=str(number)) for number in range(5)]
    gaps = [a_gap(item) for item in items]
    gaps[4]["criterion"] = "complete"
    reported(judge, a_full_report(disagreements=apart(*gaps)))
    words = "4 of 5 are about Grounded. In all 5, the judge is higher than people."
    assert words in shown(as_viewer, page)


def test_below_30_labels_there_is_no_coloured_verdict(as_viewer, page, judge):
    few = {"standing": "not_enough", "n": 12}
    reported(judge, a_report(an_entry(**few), an_entry("b", **few), labels=12,
                             composite=an_entry("composite", **few)))  # fmt: skip
    text = shown(as_viewer, page)
    assert "Not enough evidence yet." in text
    assert not any(f"tone-{kind}" in text or f"track-{kind}" in text for kind in ("ok", "warn", "bad"))


def test_people_who_do_not_agree(as_viewer, page, judge):
    reported(judge, a_report(an_entry("fluency", "not_measurable", alpha=0.03, kappa=0.1)))
    text = shown(as_viewer, page)
    assert "no judge can be measured against this" in text
    assert not any(f"tone-{kind}" in text for kind in ("ok", "warn", "bad"))


def test_without_labels_it_shows_the_first_steps(as_viewer, page, judge):
    reported(judge, a_report(labels=0, raters=[]))
    text = shown(as_viewer, page)
    assert "Nobody knows yet how good this judge is." in text
    assert "Score them blind" in text
    assert "criteria-table" not in text


def test_a_judge_that_did_not_score_the_labelled_texts(as_viewer, page, judge):
    a_labelled_text(judge)
    reported(judge, a_report(labels=0))
    assert "it has not scored any of them" in shown(as_viewer, page)


def test_a_rubric_of_one_criterion_and_figures_that_are_missing(as_viewer, page, judge):
    empty = dict.fromkeys(("alpha", "retest_sd", "smallest_difference", "flip_rate", "within_one"))
    reported(judge, a_report(an_entry(standing="unknown", **empty)))
    assert "How well people agree with each other is not known" in shown(as_viewer, page)


def test_what_the_texts_and_judges_say_is_escaped(as_viewer, page, judge):
    item = a_labelled_text(judge, text="<script>alert(1)</script> says the text", task="<b>x</b>")
    item.title = "<script>alert(2)</script>"
    item.save()
    reported(judge, a_full_report(raters=["<i>Ada</i>"], disagreements=apart(a_gap(item))))
    text = shown(as_viewer, page)
    assert "<script>alert" not in text
    assert "<i>Ada" not in text


def test_history_over_versions_and_models(as_viewer, page, judge, project):
    other = a_judge(project, version=judge.rubric_version, model="qwen3:14b")
    reported(judge)
    reported(other)
    text = shown(as_viewer, page)
    assert reverse("trust_page", args=[project.slug, other.pk]) in text


def test_its_queries_do_not_grow_with_labels(as_viewer, page, judge):
    items = [a_labelled_text(judge, key="0")]
    reported(judge, a_full_report(disagreements=apart(a_gap(items[0]))))
    as_viewer.get(page)
    with CaptureQueriesContext(connection) as few:
        as_viewer.get(page)
    items += [a_labelled_text(judge, key=str(number)) for number in range(1, 8)]
    reported(judge, a_full_report(disagreements=apart(*map(a_gap, items))))
    with CaptureQueriesContext(connection) as many:
        as_viewer.get(page)
    assert len(many) <= len(few)


def test_who_labels_for_the_rubric_is_led_back_to_the_queue(as_viewer, viewer, page, judge):
    item = a_labelled_text(judge)
    reported(judge)
    LabelRater.objects.create(label_set=item.label_set, name="Vera", user=viewer, opened_at=judge.created_at)
    for extra in ({}, HTMX):
        answer = as_viewer.get(page, **extra)
        assert answer.status_code in (200, 302, 403)
        assert "0.68" not in answer.content.decode()


def test_who_scores_a_run_blind_does_not_see_its_judges_figures(as_viewer, viewer, project):
    run = finished_run(project)
    record = a_judge(project, version=run.rubric_version)
    reported(record)
    BlindReading.objects.create(run=run, reader=viewer, round_number=1)
    answer = as_viewer.get(reverse("trust_page", args=[project.slug, record.pk]))
    assert answer.status_code == 403
    assert "0.68" not in answer.content.decode()


def test_a_judge_of_another_project_is_not_found(as_viewer, project, other_project):
    record = a_judge(other_project)
    assert as_viewer.get(reverse("trust_page", args=[project.slug, record.pk])).status_code == 404


def test_editors_have_the_figures_computed_again(as_editor, as_viewer, judge, project):
    row = reported(judge)
    address = reverse("trust_compute", args=[project.slug, judge.pk])
    assert as_viewer.post(address).status_code == 403
    assert as_editor.get(address).status_code == 405
    answer = as_editor.post(address)
    assert answer.headers["Location"] == reverse("trust_page", args=[project.slug, judge.pk])
    row.refresh_from_db()
    assert row.status == "queued"


def test_two_versions_have_a_chart(as_viewer, project):
    first = a_version(project)
    definition = definition_of(first)
    second = version_create(
        rubric=first.rubric, definition=replace(definition, purpose="New."), edited_from=1
    )
    records = [a_judge(project, version=version) for version in (first, second)]
    for record in records:
        reported(record)
    a_labelled_text(records[0])
    assert "labels of v1" not in shown(as_viewer, reverse("trust_page", args=[project.slug, records[0].pk]))
    text = shown(as_viewer, reverse("trust_page", args=[project.slug, records[1].pk]))
    assert "labels of v1" in text
    assert "Structure, version 2: κ 0.68 (0.58 to 0.78)" in text


def test_texts_that_the_reader_may_still_label_are_not_shown(as_viewer, page, judge):
    waiting, done = a_labelled_text(judge, people=(5,)), a_labelled_text(judge, key="b", people=(5, 6))
    reported(judge, a_full_report(disagreements=apart(a_gap(waiting), a_gap(done))))
    assert shown(as_viewer, page).count("The judge said") == 1
