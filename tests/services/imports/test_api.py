"""Imports and training data by token."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from refinement.models import Run
from tests.api.conftest import api_editor, api_viewer
from tests.views.runs.finished import finished_run

__all__ = ["api_editor", "api_viewer"]
pytestmark = pytest.mark.django_db
LINE = json.dumps({"task": "T", "wiggum_scores": {"r1": {"depth": 7}}, "final": "PASS", "mood": 1})


def sent(api, query: str = "", name: str = "runs.jsonl", data: str = LINE):
    return api.client.post(
        f"/api/v1/projects/alpha/imports{query}",
        {"file": [SimpleUploadedFile(name, data.encode())]},
        headers={"Authorization": f"Bearer {api.token}"},
    )


def test_a_dry_run_reports_and_an_import_imports_once(api_editor, editor, project):
    dry = sent(api_editor, "?dry_run=true")
    assert (dry.status_code, dry.json()["new"], Run.objects.count()) == (200, 1, 0)
    assert [note["text"] for note in dry.json()["notes"]] == ["mood"]
    first, again = sent(api_editor).json(), sent(api_editor).json()
    run = Run.objects.get()
    assert [first["runs"][0]["run"], first["new"]] == [run.pk, 1]
    assert (again["new"], again["here"], again["runs"][0]["run"]) == (0, 1, run.pk)
    assert run.imported.by == editor


def test_what_is_not_read_is_a_problem(api_editor, api_viewer, project):
    refused = sent(api_editor, name="a.zip", data="PK no zip")
    assert (refused.status_code, refused.json()["code"]) == (422, "bad_upload")
    assert "cannot be opened as a zip file" in refused.json()["detail"]
    assert api_editor.post("/projects/alpha/imports", {}).status_code == 422
    assert sent(api_viewer).status_code == 403
    assert not Run.objects.exists()


def test_training_data_and_the_filter(api_editor, api_viewer, project):
    run = finished_run(project, ("7", "9.5"), outcome="PASS")
    sent(api_editor)
    answer = api_viewer.get("/projects/alpha/runs/training/pairs", query={"least": "1"})
    (found,) = [json.loads(line) for line in b"".join(answer).decode().splitlines()]
    assert (found["run"], found["difference"]) == (run.pk, 2.5)
    listed = api_viewer.get("/projects/alpha/runs", query={"imported": "any"}).json()
    assert [entry["title"] for entry in listed["items"]] == ["T"]
