"""Bulk actions, saved views, share links, notices and the audit log."""

import pytest

from refinement.models import AuditEntry, ReviewRequest, SavedView
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HERE = "/projects/alpha"


@pytest.fixture
def runs(project):
    return [finished_run(project) for _ in range(3)]


def test_many_runs_are_changed_and_what_could_not_be_is_said(api_editor, runs):
    numbers = [run.pk for run in runs]

    def done(action, chosen=numbers, **more):
        return api_editor.post(f"{HERE}/runs/bulk", {"runs": chosen, "action": action, **more}).json()

    assert done("tag", tags=["ci"]) == {"done": 3, "refused": []}
    assert len(api_editor.get(f"{HERE}/runs", {"tag": "ci"}).json()["items"]) == 3
    assert done("untag", [numbers[0]], tags=["ci"])["done"] == 1
    assert done("cancel")["done"] == 0
    told = done("archive", [*numbers, 999])
    assert (told["done"], told["refused"]) == (3, ["Run 999 is not in this project."])
    assert done("unarchive")["done"] == 3
    wrong = api_editor.post(f"{HERE}/runs/bulk", {"runs": numbers, "action": "tag"})
    assert (wrong.status_code, wrong.json()["errors"][0]["where"]) == (422, "body.tags")


def test_people_are_asked_about_many_runs_or_about_none(api_editor, runs, viewer, editor):
    body = {"runs": [run.pk for run in runs], "reviewers": [viewer.pk, editor.pk], "note": "Look."}
    made = api_editor.post(f"{HERE}/reviews", body, Idempotency_Key="r")
    assert made.status_code == 201
    assert [(entry["run"], entry["reviewer"]) for entry in made.json()["asked"]] == [
        (run.pk, person.pk) for run in runs for person in (viewer, editor)
    ]
    assert api_editor.post(f"{HERE}/reviews", body, Idempotency_Key="r").json() == made.json()
    assert api_editor.post(f"{HERE}/reviews", body).json()["asked"] == []
    wrong = api_editor.post(f"{HERE}/reviews", body | {"runs": [runs[0].pk, 999]})
    assert (wrong.status_code, wrong.json()["errors"][0]["where"]) == (422, "body.runs")
    assert ReviewRequest.objects.count() == 6


def test_a_view_is_kept_and_used_and_forgotten(api_editor, api_viewer, runs):
    body = {"name": "Good", "filters": {"best_min": "8.5"}, "sort": "-best", "shared": True}
    made = api_editor.post(f"{HERE}/runs/views", body).json()
    assert made["filters"] == {"best_min": "8.5", "sort": "-best"}
    assert api_viewer.get(f"{HERE}/runs/views").json()["items"] == [made]
    assert len(api_viewer.get(f"{HERE}/runs", made["filters"]).json()["items"]) == 3
    again = api_editor.post(f"{HERE}/runs/views", body)
    assert (again.status_code, again.json()["errors"][0]["where"]) == (422, "body.name")
    bad = api_editor.post(f"{HERE}/runs/views", body | {"name": "Bad", "filters": {"best_min": "high"}})
    assert bad.status_code == 422
    assert api_editor.delete(f"{HERE}/runs/views/{made['id']}").status_code == 204
    assert api_editor.delete(f"{HERE}/runs/views/{made['id']}").status_code == 404
    assert SavedView.objects.count() == 0


def test_a_private_view_is_its_makers_alone(api_editor, api_viewer, runs):
    mine = api_viewer.post(f"{HERE}/runs/views", {"name": "Mine"}).json()
    assert mine["shared"] is False
    assert api_viewer.get(f"{HERE}/runs/views").json()["items"] == [mine]
    assert api_editor.get(f"{HERE}/runs/views").json()["items"] == []
    assert api_editor.delete(f"{HERE}/runs/views/{mine['id']}").status_code == 404
    shared = api_viewer.post(f"{HERE}/runs/views", {"name": "Ours", "shared": True})
    assert shared.status_code == 403
    assert api_viewer.delete(f"{HERE}/runs/views/{mine['id']}").status_code == 204


def test_a_link_is_made_opened_and_revoked(api_editor, api_owner, client, project, runs):
    address = f"{HERE}/runs/{runs[0].pk}/shares"
    made = api_editor.post(address, {"days": 1, "note": "For Ann"}, Idempotency_Key="s").json()
    assert client.get(made["link"]).status_code == 200
    again = api_editor.post(address, {"days": 1, "note": "For Ann"}, Idempotency_Key="s").json()
    assert again == made | {"link": None}
    (listed,) = api_editor.get(address).json()["items"]
    assert (listed["state"], listed["note"], listed["opened"]) == ("open", "For Ann", 1)
    assert api_editor.post(f"{HERE}/shares/{listed['id']}/revoke").json()["state"] == "revoked"
    assert api_editor.post(f"{HERE}/shares/{listed['id']}/revoke").status_code == 409
    assert client.get(made["link"]).status_code == 404
    settings = api_owner.get(HERE)
    api_owner.patch(HERE, {"sharing": False}, If_Match=settings.headers["ETag"])
    assert api_editor.post(address, {}).json()["code"] == "sharing_off"


def test_notices_are_read(api_editor, api_viewer, api_owner, runs, viewer):
    api_editor.post(f"{HERE}/runs/{runs[0].pk}/reviews", {"reviewers": [viewer.pk]})
    (told,) = api_viewer.get(f"{HERE}/notices", {"unread": "true"}).json()["items"]
    assert (told["run"], told["read_at"]) == (runs[0].pk, None)
    read = f"{HERE}/notices/{told['id']}/read"
    assert api_owner.put(read, {}).status_code == 404
    assert api_viewer.put(read, {}).json()["read_at"]
    assert api_viewer.get(f"{HERE}/notices", {"unread": "true"}).json()["items"] == []
    assert api_viewer.put(read, {"read": False}).json()["read_at"] is None


def test_owners_read_who_did_what(api_editor, api_owner, runs):
    api_editor.post(f"{HERE}/runs/{runs[0].pk}/archive")
    (entry,) = api_owner.get(f"{HERE}/audit", {"action": "run.archive"}).json()["items"]
    assert (entry["object_type"], entry["object_id"]) == ("run", str(runs[0].pk))
    assert "Edgar Editor" in entry["actor"]
    assert api_owner.get(f"{HERE}/audit", {"since": "2999-01-01"}).json()["items"] == []
    assert len(api_owner.get(f"{HERE}/audit", {"limit": "1"}).json()["items"]) == 1
    assert AuditEntry.objects.count() > 1
