"""Where a judge and people disagree: the list, one text, and the actions."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from refinement.models import AuditEntry, BlindReading, HumanScore, Label, LabelRater, Report, Round, Verdict
from tests.selectors.trust.given import a_gap, a_judge, a_labelled_text, apart, reported
from tests.selectors.trust.reports import a_full_report, an_entry
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def judge(project):
    return a_judge(project)


@pytest.fixture
def item(judge):
    return a_labelled_text(judge)


@pytest.fixture
def page(project, judge):
    return reverse("trust_disagreements", args=[project.slug, judge.pk])


def case_page(judge, item, criterion="grounded", name="trust_case"):
    return reverse(name, args=[judge.project.slug, judge.pk, f"label-{item.pk}", criterion])


def shown(client, page, **extra):
    answer = client.get(page, **extra)
    assert answer.status_code == 200
    return answer.content.decode()


def test_each_has_the_passage_and_both_reasonings(as_viewer, page, judge, item):
    reported(judge, a_full_report(disagreements=apart(a_gap(item))))
    text = shown(as_viewer, page)
    assert "The judge said 9, people 5.5" in text
    assert "“Imports are twice as fast (ING-412)”" in text  # quoted by the judge, found in the text
    assert "Every claim has a number" in text
    assert "Ada read the ticket" in text


def test_by_criterion_and_a_page_at_a_time(as_viewer, page, judge):
    items = [a_labelled_text(judge, key=str(number)) for number in range(25)]
    gaps = [a_gap(item) for item in items]
    gaps[3]["criterion"] = "complete"
    reported(judge, a_full_report(disagreements=apart(*gaps, count=300)))
    first = shown(as_viewer, page)
    assert first.count("The judge said") == 20
    assert "The 25 largest are listed." in first
    assert "the judge is higher than people" in first
    assert shown(as_viewer, f"{page}?page=2").count("The judge said") == 5
    one = shown(as_viewer, f"{page}?criterion=complete")
    assert one.count("The judge said") == 1
    assert shown(as_viewer, f"{page}?criterion=nothing&page=99").count("The judge said") == 5


def test_the_number_of_queries_does_not_grow(as_viewer, page, judge):
    items = [a_labelled_text(judge, key="0")]
    reported(judge, a_full_report(disagreements=apart(a_gap(items[0]))))
    as_viewer.get(page)
    with CaptureQueriesContext(connection) as few:
        as_viewer.get(page)
    items += [a_labelled_text(judge, key=str(number)) for number in range(1, 15)]
    reported(judge, a_full_report(disagreements=apart(*map(a_gap, items))))
    as_viewer.get(page)
    with CaptureQueriesContext(connection) as many:
        as_viewer.get(page)
    assert len(many) == len(few)


def test_none_and_not_computed_yet(as_viewer, page, judge):
    assert "A worker is computing" in shown(as_viewer, page)
    reported(judge)
    assert "No disagreements" in shown(as_viewer, page)


def test_a_text_with_everything_that_was_said(as_viewer, judge, item):
    reported(judge, a_full_report(disagreements=apart(a_gap(item))))
    text = shown(as_viewer, case_page(judge, item))
    assert "Grounded</bdi>: the judge said 9, people 5.5" in text
    assert "# Release 2.4" in text
    assert "Ben read the ticket" in text
    assert "mean of 2" in text
    assert "The label was wrong" not in text  # viewers cannot change labels


def test_the_text_of_a_round(as_viewer, as_owner, owner, project):
    run = finished_run(project)
    judge = a_judge(project, version=run.rubric_version)
    row = Round.objects.filter(run=run).earliest("number")
    assert Verdict.objects.filter(round=row).exists()
    HumanScore.objects.create(
        run=run, round=row, author=owner, author_name="Olga", composite=3,
        scores=[{"key": "depth", "score": "3", "reason": "It only repeats the title."}],
    )  # fmt: skip
    gap = {"item": f"round:{row.pk}", "criterion": "depth", "judge": 8.0, "people": 3.0, "raters": 1}
    depth = an_entry("depth")
    reported(judge, a_full_report(criteria=[depth], disagreements=apart(gap)))
    text = shown(as_viewer, reverse("trust_disagreements", args=[project.slug, judge.pk]))
    assert "It only repeats the title." in text
    assert "It names the steps." in text  # the judge's verdict in the run
    address = reverse("trust_case", args=[project.slug, judge.pk, f"round-{row.pk}", "depth"])
    assert "Change your score" in shown(as_owner, address)
    BlindReading.objects.create(run=run, reader=owner, round_number=1)
    assert as_owner.get(address).status_code == 403


@pytest.mark.parametrize("name", ["label-0", "label-999999", "run-1", "label-1x", "round-999999"])
def test_other_texts_are_not_found(as_viewer, judge, item, project, name):
    reported(judge)
    address = reverse("trust_case", args=[project.slug, judge.pk, name, "grounded"])
    assert as_viewer.get(address).status_code == 404


def test_texts_of_another_rubric_are_not_found(as_viewer, judge, item, project, other_project):
    other = a_judge(other_project)
    foreign = a_labelled_text(other)
    reported(judge)
    assert as_viewer.get(case_page(judge, foreign)).status_code == 404
    assert as_viewer.get(case_page(judge, item, "nothing")).status_code == 404


def test_a_label_that_was_wrong_no_longer_counts_and_can_be_undone(as_editor, judge, item):
    row = reported(judge, a_full_report(disagreements=apart(a_gap(item))))
    label = item.labels.get(rater__name="Ada")
    address = case_page(judge, item, name="trust_label_wrong")
    answer = as_editor.post(address, {"label": label.pk, "wrong": "1"}, follow=True)
    assert "no longer counts" in answer.content.decode()
    assert "Undo: the label counts" in answer.content.decode()
    label.refresh_from_db()
    assert label.wrong == ["grounded"]
    assert AuditEntry.objects.filter(action="labels.wrong").count() == 1
    row.refresh_from_db()
    assert row.status == "queued"
    as_editor.post(address, {"label": label.pk, "wrong": "0"})
    label.refresh_from_db()
    assert label.wrong == []


def test_other_criteria_that_were_wrong_stay_so(as_editor, judge, item):
    label = item.labels.get(rater__name="Ada")
    label.wrong = ["complete"]
    label.save()
    as_editor.post(case_page(judge, item, name="trust_label_wrong"), {"label": label.pk, "wrong": "1"})
    label.refresh_from_db()
    assert sorted(label.wrong) == ["complete", "grounded"]


def test_only_editors_and_only_labels_of_the_text(as_viewer, as_editor, judge, item):
    other = a_labelled_text(judge, key="b")
    address = case_page(judge, item, name="trust_label_wrong")
    label = item.labels.get(rater__name="Ada")
    assert as_viewer.post(address, {"label": label.pk}).status_code == 403
    assert as_editor.get(address).status_code == 405
    strange = [other.labels.get(rater__name="Ada").pk, item.labels.get(rater__name="gemma").pk]
    for given in ("", "x", *strange):
        answer = as_editor.post(address, {"label": given, "wrong": "1"}, follow=True)
        assert "Choose another one." in answer.content.decode()
    assert not Label.objects.exclude(wrong=[]).exists()


def test_who_labels_blind_sees_no_disagreements(as_viewer, viewer, page, judge, item):
    reported(judge, a_full_report(disagreements=apart(a_gap(item))))
    LabelRater.objects.create(label_set=item.label_set, name="Vera", user=viewer, opened_at=timezone.now())
    for address in (page, case_page(judge, item)):
        assert "read the ticket" not in as_viewer.get(address).content.decode()


def test_clarify_opens_the_editor_with_the_case_and_a_note(as_editor, as_viewer, judge, item, project):
    reported(judge, a_full_report(disagreements=apart(a_gap(item))))
    rubric = judge.rubric_version.rubric
    address = reverse("rubric_edit", args=[project.slug, rubric.slug])
    case = f"{judge.pk}-label-{item.pk}-grounded"
    assert f"{address}?case={case}" in shown(as_editor, case_page(judge, item))
    text = shown(as_editor, f"{address}?case={case}")
    assert 'The judge said <b class="num">9</b>, people <b class="num">5.5</b>' in text
    assert "Ada read the ticket" in text
    assert 'value="Clarified Grounded: judge 9, people 5.5 on “Imports are twice as fast (ING-412)”."' in text
    assert 'class="criterion entry is-case"' in text
    assert f'action="{address}?case={case}"' in text
    assert as_viewer.get(f"{address}?case={case}").status_code == 403
    for bad in ("x", f"{judge.pk}-label-0-grounded", f"{judge.pk + 1}-label-{item.pk}-grounded", f"{case}x"):
        assert as_editor.get(f"{address}?case={bad}").status_code == 404
    assert "editor-case" not in shown(as_editor, address)


def test_the_text_becomes_a_calibration_example(as_editor, judge, item, project):
    reported(judge, a_full_report(disagreements=apart(a_gap(item))))
    address = reverse("rubric_calibration", args=[project.slug, judge.rubric_version.rubric.slug])
    assert f"{address}?label={item.pk}" in shown(as_editor, case_page(judge, item))
    text = shown(as_editor, f"{address}?label={item.pk}")
    assert "from label set October, scored by <bdi>2 people</bdi>, not saved yet" in text
    assert "Imports are twice as fast (ING-412)." in text
    for bad in ("0", "x", "999999"):
        assert as_editor.get(f"{address}?label={bad}").status_code == 404


def test_the_report_is_asked_for_once(as_viewer, page, judge):
    for _ in range(3):
        as_viewer.get(page)
    assert Report.objects.get(kind="trust", subject=judge.pk).asked == 1
