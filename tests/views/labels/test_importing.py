"""The page that imports labels: a preview first, problems by line, and who may."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from refinement.models import JudgeRecord, Label, LabelSet
from tests.services.trust.given import ITEMS, RATINGS, a_rubric

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(project):
    a_rubric(project)
    return reverse("label_set_import", args=["alpha"])


def given(ratings: str = RATINGS, **more):
    usual = {"name": "March", "rubric": "summaries", "ratings": ratings, "act": "check"}
    return {**usual, "judges": "gpt#1=gpt-4\ngpt#2=gpt-4", **more}


def test_a_preview_saves_nothing(as_editor, address):
    files = {
        "ratings_file": SimpleUploadedFile("march.csv", RATINGS.encode()),
        "items_file": SimpleUploadedFile("march.jsonl", ITEMS.encode()),
    }
    page = as_editor.post(address, given("", **files)).content.decode()
    assert "Nothing is saved yet." in page
    assert "gpt#1</bdi> (judge <bdi>gpt-4</bdi>)" in page
    assert "Nobody rated this." in page  # the file's text is still there to import it
    assert not LabelSet.objects.exists()


def test_import_saves_and_leads_to_the_set(as_editor, address):
    answer = as_editor.post(address, given(items=ITEMS, act="import"))
    row = LabelSet.objects.get()
    assert answer.url == reverse("label_set_page", args=["alpha", row.pk])
    assert (row.items.count(), Label.objects.count()) == (3, 5)
    assert JudgeRecord.objects.get().key == "gpt-4"
    page = as_editor.get(answer.url).content.decode()
    assert "judge <bdi>gpt-4</bdi>" in page
    again = as_editor.post(address, given(items=ITEMS)).content.decode()
    assert "Unchanged" in again


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"ratings": RATINGS.replace("a,depth,Ada,2", "a,depth,Ada,9")}, "The score 9 is not on the rubric"),
        ({"ratings": RATINGS.replace("a,depth", "a,deep")}, "The rubric has no criterion"),
        ({"ratings": ""}, "Choose ratings or texts: one of the two is needed."),
        ({"name": " "}, "Enter a name."),
        ({"judges": "gpt-4"}, "is not RATER=MODEL"),
        ({"judges": "nobody=gpt-4"}, "is not in the file"),
        ({"rubric": "unknown"}, "Select a valid choice"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_saved(as_editor, address, fields, words):
    answer = as_editor.post(address, given(**{**fields, "act": "import"}))
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not LabelSet.objects.exists()


def test_a_problem_has_its_line(as_editor, address):
    wrong = RATINGS.replace("a,depth,Ada,2", "a,depth,Ada,9")
    page = as_editor.post(address, given(wrong)).content.decode()
    assert "Line 3" in page
    assert "a,depth,Ada,9" in page


def test_viewers_and_others_cannot_import(as_viewer, as_outsider, address):
    assert as_viewer.post(address, given()).status_code == 403
    assert as_outsider.post(address, given()).status_code == 404
