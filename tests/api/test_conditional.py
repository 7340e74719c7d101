"""Conditional requests: 304 for a current copy, and HEAD without a body."""

import pytest

from refinement.services.rubrics.editing import default_rubrics_install
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HERE = "/projects/alpha"


def test_what_did_not_change_is_not_sent_again(api_editor, project):
    default_rubrics_install(project=project)
    run = finished_run(project)
    changes = {
        f"{HERE}/runs/{run.pk}": f"{HERE}/runs/{run.pk}/archive",
        f"{HERE}/runs": f"{HERE}/runs/{run.pk}/unarchive",
        f"{HERE}/rubrics/wiggum": f"{HERE}/rubrics/wiggum/archive",
        f"{HERE}/rubrics/wiggum/yaml": f"{HERE}/rubrics/wiggum/unarchive",
    }
    for address, change in changes.items():
        first = api_editor.get(address)
        tag = first.headers["ETag"]
        assert first.headers["Cache-Control"] == "private, no-cache"
        again = api_editor.get(address, If_None_Match=f'"other", {tag}')
        assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
        assert "RateLimit-Remaining" in again.headers
        assert api_editor.post(change).status_code == 200
        changed = api_editor.get(address, If_None_Match=tag)
        assert (changed.status_code, changed.headers["ETag"] != tag) == (200, True), address


def test_a_browser_keeps_nothing(as_viewer, project):
    answer = as_viewer.get("/api/v1/projects")
    assert answer.headers["Cache-Control"] == "private, no-store"


def test_the_head_is_that_of_the_answer(api_viewer, api_nobody, project):
    run = finished_run(project)
    for address in (f"{HERE}/runs/{run.pk}", f"{HERE}/runs", f"{HERE}/runs/999"):
        whole, head = api_viewer.get(address), api_viewer.ask("HEAD", address)
        assert (head.status_code, head.content) == (whole.status_code, b"")
        assert head.headers["Content-Length"] == str(len(whole.content))
        assert head.headers.get("ETag") == whole.headers.get("ETag")
    tag = api_viewer.get(f"{HERE}/runs").headers["ETag"]
    assert api_viewer.ask("HEAD", f"{HERE}/runs", If_None_Match=tag).status_code == 304
    file = api_viewer.ask("HEAD", f"{HERE}/runs/{run.pk}/export/json")
    assert (file.status_code, file.headers["Content-Type"], file.content) == (200, "application/json", b"")
    assert api_viewer.ask("HEAD", f"{HERE}/runs/{run.pk}/pause").status_code == 405
    assert api_nobody.ask("HEAD", f"{HERE}/runs").status_code == 401


def test_a_budget_is_set_kept_and_removed(api_owner, project):
    def change(values):
        tag = api_owner.get("/projects/alpha").headers["ETag"]
        return api_owner.patch("/projects/alpha", values, If_Match=tag).json()

    assert change({"monthly_cost": "12.5", "monthly_tokens": 100})["monthly_cost"] == "12.5"
    kept = change({"name": "Beta"})
    assert (kept["monthly_cost"], kept["monthly_tokens"]) == ("12.5", 100)
    assert change({"monthly_cost": None})["monthly_cost"] is None
    assert api_owner.get("/projects/alpha").json()["monthly_tokens"] == 100
