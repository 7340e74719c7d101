"""Judges in the API: lists, reports while and after they are computed, and comparisons."""

import pytest

from refinement.execution.reports import report_advance
from refinement.models import JudgeRecord, LabelRater, Report
from refinement.services.trust.labels import label_set_archive
from tests.services.trust.given import a_label_set
from tests.services.trust.rated import two_judges

pytestmark = pytest.mark.django_db
JUDGES = "/projects/alpha/judges"


@pytest.fixture
def judged(project):
    """40 texts that two people and two recorded judges scored; nothing is computed yet."""
    two_judges(project)
    return project


def judge(model="kind"):
    return JudgeRecord.objects.get(key=model)


def computed(kind="trust"):
    for report in Report.objects.filter(kind=kind):
        assert report_advance(report.pk)


def test_judges_are_listed_with_their_figures(judged, api_viewer):
    computed()
    found = api_viewer.get(JUDGES, query={"rubric": "summaries", "version": 1, "judge": "ollama/kind"}).json()
    assert [entry["key"] for entry in found["items"]] == ["kind"]
    line = found["items"][0]
    assert (line["rubric"], line["labels"], line["board"]) == ("summaries@1", 40, False)
    assert line["bias"] == judge().bias
    assert api_viewer.get(JUDGES, query={"rubric": "others"}).json()["items"] == []


def test_a_report_is_202_until_it_is_computed(judged, api_viewer):
    first = api_viewer.get(f"{JUDGES}/{judge().pk}")
    assert (first.status_code, first.json()["report"], first.json()["status"]) == (202, None, "queued")
    computed()
    answer = api_viewer.get(f"{JUDGES}/{judge().pk}")
    found = answer.json()
    assert (answer.status_code, found["is_current"], found["status"]) == (200, True, "done")
    assert found["report"]["labels"] == found["judge"]["labels"] == 40
    assert [entry["key"] for entry in found["report"]["criteria"]] == ["clarity", "depth"]


def test_a_refresh_makes_the_report_out_of_date(judged, api_editor):
    computed()
    answer = api_editor.post(f"{JUDGES}/{judge().pk}/refresh")
    assert (answer.status_code, answer.json()["is_current"]) == (202, False)
    assert answer.json()["report"]["labels"] == 40


def test_one_label_set_alone(judged, api_viewer):
    a_label_set(judged, "item,criterion,rater,score\nx,clarity,Ada,4\nx,depth,Ada,4\n", "", name="Small")
    address, query = f"{JUDGES}/{judge().pk}", {"set": "Small"}
    assert api_viewer.get(address, query=query).status_code == 202
    computed()
    assert api_viewer.get(address, query=query).json()["report"]["labels"] == 0
    assert api_viewer.get(address).json()["report"]["labels"] == 40
    assert judge().labels == 40
    assert api_viewer.get(address, query={"set": "None"}).status_code == 404


def test_two_judges_are_compared_on_the_same_texts(judged, api_viewer):
    address = f"{JUDGES}/{judge().pk}/compare/{judge('wild').pk}"
    assert api_viewer.get(address).status_code == 202
    computed("judges")
    found = api_viewer.get(address).json()["comparison"]
    assert (found["items"], found["composite"]["verdict"]) == (40, "first")
    difference = found["composite"]["difference"]["kappa"]
    assert difference["low"] < difference["value"] < difference["high"] < 0
    assert api_viewer.get(f"{JUDGES}/{judge().pk}/compare/{judge().pk}").status_code == 404


def test_who_labels_blind_sees_no_figures(judged, viewer, api_viewer):
    computed()
    row = judge().rubric_version.label_sets.get()
    LabelRater.objects.create(label_set=row, name="Vera", user=viewer, opened_at=row.created_at)
    assert api_viewer.get(JUDGES).json()["items"] == []
    for address in (str(judge().pk), f"{judge().pk}/compare/{judge('wild').pk}"):
        answer = api_viewer.get(f"{JUDGES}/{address}")
        assert (answer.status_code, answer.json()["code"]) == (403, "reads_blind")


def test_archived_sets_do_not_count(judged):
    label_set_archive(label_set=judge().rubric_version.label_sets.get())
    computed()
    assert judge().labels == 0
