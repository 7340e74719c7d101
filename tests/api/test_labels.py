"""Label sets by the API: create, import, export, label blind, and mark labels as wrong."""

import pytest

from refinement.models import Label, LabelSet
from tests.services.trust.given import ITEMS, RATINGS, a_label_set, a_rubric

pytestmark = pytest.mark.django_db
HERE = "/projects/alpha/label-sets"
TEXTS = [{"text": "# One\n\nBody.", "task": "Explain."}, {"text": "Two", "key": "second"}]
SCORES = {
    "scores": [
        {"criterion": "clarity", "score": "4"},
        {"criterion": "depth", "score": "2", "reason": "Thin."},
    ]
}


@pytest.fixture
def number(api_editor, project) -> int:
    a_rubric(project)
    made = api_editor.post(HERE, {"name": "March", "rubric": "summaries", "texts": TEXTS})
    assert made.status_code == 201
    return made.json()["id"]


def test_a_set_is_made_listed_changed_and_archived(api_editor, api_viewer, number):
    (line,) = api_viewer.get(HERE).json()["items"]
    assert (line["name"], line["rubric"], line["texts"], line["waiting"]) == ("March", "summaries@1", 2, 2)
    read = api_editor.get(f"{HERE}/{number}")
    assert api_editor.put(f"{HERE}/{number}", {"name": "April"}).status_code == 428
    changed = api_editor.put(f"{HERE}/{number}", {"name": "April"}, If_Match=read["ETag"])
    assert (changed.json()["name"], changed.json()["raters_wanted"]) == ("April", 2)
    assert api_editor.put(f"{HERE}/{number}", {"name": "May"}, If_Match=read["ETag"]).status_code == 412
    assert api_editor.post(f"{HERE}/{number}/archive").json()["archived_at"]
    assert api_viewer.get(HERE).json()["items"] == []
    assert api_editor.post(f"{HERE}/{number}/unarchive").json()["archived_at"] is None


def test_texts_are_added_once_and_listed_without_scores(api_editor, number):
    again = api_editor.post(f"{HERE}/{number}/texts", {"texts": [{"text": "Two"}, {"text": "Three"}]})
    assert again.json() == {"added": 1}
    found = api_editor.get(f"{HERE}/{number}/texts").json()["items"]
    assert [(entry["position"], entry["key"], entry["title"]) for entry in found] == [
        (1, "text-1", "One"),
        (2, "second", "Two"),
        (3, "text-3", "Three"),
    ]
    taken = api_editor.post(f"{HERE}/{number}/texts", {"texts": [{"text": "Four", "key": "second"}]})
    assert taken.status_code == 422
    assert "already" in taken.json()["errors"][0]["message"]


def test_an_import_is_tried_refused_by_line_and_done(api_editor, project):
    a_rubric(project)
    body = {
        "name": "March",
        "rubric": "summaries",
        "ratings": RATINGS,
        "items": ITEMS,
        "judges": {"gpt#1": "gpt-4"},
    }
    tried = api_editor.post(f"{HERE}/import", body | {"dry_run": True}).json()
    assert (tried["dry_run"], tried["label_set"], tried["labels_new"]) == (True, None, 5)
    assert not LabelSet.objects.exists()
    bad = api_editor.post(f"{HERE}/import", body | {"ratings": RATINGS.replace("Ada,4", "Ada,9")})
    assert bad.status_code == 422
    assert bad.json()["errors"][0]["where"] == "line 2"
    done = api_editor.post(f"{HERE}/import", body).json()
    assert (done["labels_new"], done["scores"]) == (5, 6)
    raters = api_editor.get(f"{HERE}/{done['label_set']}/raters").json()
    assert {(rater["name"], rater["kind"], rater["labels"]) for rater in raters} >= {
        ("Ada", "outside", 2),
        ("gpt#1", "judge", 1),
    }
    for wrong, where in (({"rubric": "nothing"}, "body.rubric"), ({"name": " "}, "body.name")):
        assert api_editor.post(f"{HERE}/import", body | wrong).json()["errors"][0]["where"] == where


def test_an_export_can_be_imported_again(api_editor, project):
    row = a_label_set(project, judges={"gpt#1": "gpt-4", "gpt#2": "gpt-4"})
    for form in ("csv", "jsonl"):
        files = {
            what: b"".join(api_editor.get(f"{HERE}/{row.pk}/export/{what}/{form}")).decode()
            for what in ("ratings", "items")
        }
        copy = api_editor.post(
            f"{HERE}/import", {"name": f"Copy {form}", "rubric": "summaries", **files}
        ).json()
        assert (copy["labels_new"], copy["scores"], copy["items_without_text"]) == (5, 6, 1)
        same = api_editor.post(f"{HERE}/import", {"name": row.name, "rubric": "summaries", **files}).json()
        assert (same["labels_new"], same["labels_changed"], same["labels_unchanged"]) == (0, 0, 5)
    assert api_editor.get(f"{HERE}/{row.pk}/export/ratings/xml").status_code == 404


def test_labelling_from_beginning_to_end(api_viewer, api_editor, number):
    here = f"{HERE}/{number}"
    assert api_viewer.put(f"{here}/texts/1/labels/mine", SCORES).status_code == 409
    queue = api_viewer.put(f"{here}/queue", {}).json()
    assert (queue["open"], queue["position"], queue["text"], queue["waiting"]) == (
        True,
        1,
        "# One\n\nBody.",
        2,
    )
    assert [entry["key"] for entry in queue["criteria"]] == ["clarity", "depth"]
    for hidden in ("labels", "export/ratings/csv"):
        refused = api_viewer.get(f"{here}/{hidden}")
        assert (refused.status_code, refused.json()["code"]) == (403, "reads_blind")
        assert "Finish or leave labelling first" in refused.json()["detail"]
    first = api_viewer.put(f"{here}/texts/1/labels/mine", SCORES)
    assert (first.json()["blind"], first.json()["version"]) == (True, 1)
    assert api_viewer.put(f"{here}/texts/1/labels/mine", SCORES).status_code == 428
    changed = {"scores": [{**SCORES["scores"][0], "score": "5"}, SCORES["scores"][1]]}
    tag = api_viewer.get(f"{here}/texts/1/labels/mine")["ETag"]
    assert api_viewer.put(f"{here}/texts/1/labels/mine", changed, If_Match=tag).json()["version"] == 2
    assert api_viewer.get(f"{here}/queue").json()["position"] == 2
    api_viewer.put(f"{here}/texts/2/labels/mine", SCORES)
    assert api_viewer.get(f"{here}/queue").json()["open"] is False
    assert api_viewer.delete(f"{here}/queue").status_code == 404
    (one, _) = api_viewer.get(f"{here}/labels").json()["items"]
    assert one["scores"][0] == {"criterion": "clarity", "score": "5", "reason": ""}


@pytest.mark.parametrize(
    ("scores", "where"),
    [
        ([], "body.scores.clarity"),
        ([{"criterion": "tone", "score": "1"}], "body.scores.tone"),
        (
            [{"criterion": "clarity", "score": "9"}, {"criterion": "depth", "score": "1"}],
            "body.scores.clarity",
        ),
    ],
)
def test_wrong_scores_are_named(api_viewer, number, scores, where):
    api_viewer.put(f"{HERE}/{number}/queue", {})
    answer = api_viewer.put(f"{HERE}/{number}/texts/1/labels/mine", {"scores": scores})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == where


def test_a_label_is_marked_as_wrong_and_back(api_editor, api_viewer, project):
    row = a_label_set(project)
    label = Label.objects.get(item__key="a", rater__name="Ada")
    here = f"{HERE}/{row.pk}/texts/1/labels/{label.pk}/wrong"
    assert api_viewer.put(here, {"criteria": ["clarity"]}).status_code == 403
    assert api_editor.put(here, {"criteria": ["clarity"]}).json()["wrong"] == ["clarity"]
    assert api_editor.put(here, {"criteria": ["tone"]}).status_code == 422
    assert api_editor.put(here, {"criteria": []}).json()["wrong"] == []
