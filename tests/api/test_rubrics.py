"""Rubrics by the API: create, read and save with an ETag, as JSON and as YAML."""

import pytest
from django.test import Client

from refinement.engine.profiles import default_rubrics
from refinement.interchange.rubrics.yaml import rubric_from_fields, rubric_to_fields
from refinement.models import Rubric, RubricVersion
from refinement.services.rubrics.editing import default_rubrics_install

pytestmark = pytest.mark.django_db
RUBRICS = "/projects/alpha/rubrics"


@pytest.fixture
def made(api_editor) -> dict:
    """A rubric from the gallery."""
    return api_editor.post(RUBRICS, {"name": "Ours", "profile": "simmer", "artifact": "code"}).json()


def send_yaml(script, method: str, address: str, text: str | bytes, **headers: str):
    named = {"Authorization": f"Bearer {script.token}", **headers}
    body = text.encode() if isinstance(text, str) else text
    return Client().generic(method, f"/api/v1{address}", body, "application/yaml", headers=named)


@pytest.mark.parametrize("slug", sorted(default_rubrics()))
def test_a_definition_is_the_same_after_the_way_through_json(slug):
    rubric = default_rubrics()[slug]
    assert rubric_from_fields(rubric_to_fields(rubric)) == rubric


def test_a_rubric_is_made_from_the_gallery(api_editor, api_viewer, made, editor):
    row = Rubric.objects.get(slug="ours")
    assert (made["slug"], made["version"], made["saved_by"]) == ("ours", 1, "Edgar Editor")
    assert row.created_by == editor
    gallery = api_viewer.get("/projects/alpha/rubric-gallery").json()
    assert [card["key"] for card in gallery["profiles"]] == ["wiggum", "ralph", "simmer"]
    assert gallery["panels"]["code"][0]["name"] == "Correctness reviewer"
    wrong = api_editor.post(RUBRICS, {"profile": "none", "artifact": "none"}).json()
    assert {entry["where"] for entry in wrong["errors"]} == {"body.name", "body.profile", "body.artifact"}


def test_a_save_is_a_new_version_on_top_of_what_was_read(api_editor, made):
    read = api_editor.get(f"{RUBRICS}/ours")
    tag, definition = read.headers["ETag"], read.json()["definition"]
    assert api_editor.put(f"{RUBRICS}/ours", {"definition": definition}).status_code == 428
    changed = definition | {"purpose": "Ours alone.", "name": "Ours, better"}
    done = api_editor.put(f"{RUBRICS}/ours", {"definition": changed, "note": "Better."}, If_Match=tag)
    assert (done.status_code, done.json()["version"], done.json()["note"]) == (200, 2, "Better.")
    assert done.json()["definition"]["purpose"] == "Ours alone."
    late = api_editor.put(f"{RUBRICS}/ours", {"definition": definition}, If_Match=tag)
    assert (late.status_code, late.headers["ETag"]) == (412, done.headers["ETag"])
    same = api_editor.put(f"{RUBRICS}/ours", {"definition": changed}, If_Match=done.headers["ETag"])
    assert (same.status_code, same.json()["version"]) == (200, 2)
    assert RubricVersion.objects.filter(rubric__slug="ours").count() == 2


def test_a_board_of_the_gallery_is_saved_and_listed(api_editor, api_viewer, made):
    read = api_editor.get(f"{RUBRICS}/ours")
    definition = read.json()["definition"]
    assert "judges" not in definition
    assert definition["policy"]["on_plateau"] == "board"
    assert api_viewer.get(RUBRICS).json()["items"][0]["judges"] == "single"
    panel = api_editor.get("/projects/alpha/rubric-gallery").json()["panels"]["code"]
    board = {"mode": "board", "panel": panel, "deliberation": False, "clerk": "rack/small"}
    changed = definition | {"judges": board, "policy": definition["policy"] | {"on_plateau": "ask"}}
    done = api_editor.put(f"{RUBRICS}/ours", {"definition": changed}, If_Match=read.headers["ETag"])
    assert done.json()["definition"] == changed
    assert api_viewer.get(RUBRICS).json()["items"][0]["judges"] == "board"


def test_judges_that_are_not_valid_are_all_told_about(api_editor, made):
    read = api_editor.get(f"{RUBRICS}/ours")
    judges = {"mode": "jury", "panel": [{"name": "A", "lens": "a", "model": "x"}], "clerk": "x"}
    wrong = {"definition": read.json()["definition"] | {"judges": judges}}
    done = api_editor.put(f"{RUBRICS}/ours", wrong, If_Match=read.headers["ETag"])
    text = done.content.decode()
    assert done.status_code == 422
    for words in ("mode in judges must be one of", "has 1 judge; 2 to 5", "clerk in judges must be ENDPOINT"):
        assert words in text, text
    assert "model in panel in judges, entry 1 must be ENDPOINT/MODEL" in text


def test_a_definition_that_is_not_valid_is_told_about_and_changes_nothing(api_editor, made):
    tag = api_editor.get(f"{RUBRICS}/ours").headers["ETag"]
    broken = made["definition"] | {"criteria": [], "colour": "red", "scale": {"minimum": 5, "maximum": 1}}
    answer = api_editor.put(f"{RUBRICS}/ours", {"definition": broken}, If_Match=tag)
    assert answer.status_code == 422
    said = " ".join(entry["message"] for entry in answer.json()["errors"])
    assert "colour" in said
    assert RubricVersion.objects.filter(rubric__slug="ours").count() == 1


def test_yaml_goes_out_and_in_again(api_editor, made):
    out = api_editor.get(f"{RUBRICS}/ours/yaml")
    assert out.headers["Content-Type"] == "application/yaml; charset=utf-8"
    text = out.content.decode()
    new = send_yaml(api_editor, "POST", "/projects/alpha/rubric-files?note=Pushed", text)
    assert (new.status_code, new.json()["slug"], new.json()["note"]) == (201, "ours-2", "Pushed")
    changed = text.replace("name: Ours", "name: Theirs", 1)
    tag = {"If-Match": out.headers["ETag"]}
    saved = send_yaml(api_editor, "PUT", f"{RUBRICS}/ours/yaml", changed, **tag)
    assert (saved.status_code, saved.json()["version"], saved.json()["name"]) == (200, 2, "Theirs")
    assert send_yaml(api_editor, "PUT", f"{RUBRICS}/ours/yaml", changed, **tag).status_code == 412
    older = api_editor.get(f"{RUBRICS}/ours/yaml", {"version": "1"})
    assert older.content.decode() == text


@pytest.mark.parametrize(
    ("text", "status"),
    [("name: [", 422), ("", 422), ("a: &x 1\nb: *x\n", 422), (b"\xff\xfe", 400), ("x" * 1_000_001, 413)],
)
def test_a_file_that_is_none_is_refused(api_editor, text, status):
    answer = send_yaml(api_editor, "POST", "/projects/alpha/rubric-files", text)
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert Rubric.objects.count() == 0


def test_versions_are_listed_read_and_restored(api_editor, api_viewer, made):
    tag = api_editor.get(f"{RUBRICS}/ours").headers["ETag"]
    changed = made["definition"] | {"purpose": "Second."}
    tag = api_editor.put(f"{RUBRICS}/ours", {"definition": changed}, If_Match=tag).headers["ETag"]
    versions = api_viewer.get(f"{RUBRICS}/ours/versions").json()["items"]
    assert [entry["number"] for entry in versions] == [2, 1]
    assert api_viewer.get(f"{RUBRICS}/ours/versions/1").json()["definition"] == made["definition"]
    assert api_viewer.get(f"{RUBRICS}/ours/versions/9").status_code == 404
    assert api_editor.post(f"{RUBRICS}/ours/restore", {"version": 9}, If_Match=tag).status_code == 404
    back = api_editor.post(f"{RUBRICS}/ours/restore", {"version": 1}, If_Match=tag)
    assert (back.json()["version"], back.json()["definition"]) == (3, made["definition"])
    assert api_editor.post(f"{RUBRICS}/ours/restore", {"version": 1}, If_Match=tag).status_code == 412


def test_a_rubric_is_copied_and_put_away(api_editor, api_viewer, made, other_project):
    copy = api_editor.post(f"{RUBRICS}/ours/duplicate", {"name": "Copy"}, Idempotency_Key="k")
    assert (copy.status_code, copy.json()["slug"]) == (201, "copy")
    elsewhere = {"name": "Copy", "project": "beta"}
    assert api_editor.post(f"{RUBRICS}/ours/duplicate", elsewhere).status_code == 404
    assert api_editor.post(f"{RUBRICS}/ours/archive").json()["archived_at"]
    assert [entry["slug"] for entry in api_viewer.get(RUBRICS).json()["items"]] == ["copy"]
    assert [entry["slug"] for entry in api_viewer.get(RUBRICS, {"archived": "1"}).json()["items"]] == ["ours"]
    assert api_editor.post(f"{RUBRICS}/ours/unarchive").json()["archived_at"] is None


def test_the_list_comes_in_pages(api_viewer, project):
    default_rubrics_install(project=project)
    first = api_viewer.get(RUBRICS, {"limit": "3"}).json()
    second = api_viewer.get(RUBRICS, {"limit": "100", "cursor": first["next"]}).json()
    slugs = [entry["slug"] for entry in first["items"] + second["items"]]
    assert len(slugs) == len(set(slugs)) == len(default_rubrics())
    assert second["next"] is None
    found = api_viewer.get(RUBRICS, {"q": "ralph"}).json()["items"]
    assert "ralph" in [entry["slug"] for entry in found]
