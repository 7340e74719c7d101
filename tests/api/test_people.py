"""Members, invitations and endpoints by the API."""

import pytest
from django.core import mail
from django.test import Client

from refinement.models import AuditEntry, Endpoint, IdempotencyKey, Invitation, Membership, User
from refinement.services.people.invitations import invitation_accept
from tests.api.conftest import ApiClient, api_client

pytestmark = pytest.mark.django_db
ROOT = "/projects/alpha"


def test_a_role_is_changed_on_top_of_the_one_that_was_read(api_owner, api_viewer, editor):
    here = f"{ROOT}/members/{editor.pk}"
    tag = api_viewer.get(here).headers["ETag"]
    assert api_owner.patch(here, {"role": "viewer"}).status_code == 428
    assert api_owner.patch(here, {"role": "viewer"}, If_Match=tag).json()["role"] == "viewer"
    assert api_owner.patch(here, {"role": "owner"}, If_Match=tag).status_code == 412
    assert api_owner.patch(here, {"role": "king"}, If_Match=tag).status_code == 422


def test_a_project_keeps_an_owner(api_owner, owner):
    here = f"{ROOT}/members/{owner.pk}"
    tag = api_owner.get(here).headers["ETag"]
    for answer in (api_owner.patch(here, {"role": "viewer"}, If_Match=tag), api_owner.delete(here)):
        assert (answer.status_code, answer.json()["code"]) == (409, "last_owner")
        assert "needs an owner" in answer.json()["detail"]


def test_a_member_is_taken_out(api_owner, editor, viewer):
    assert api_owner.delete(f"{ROOT}/members/{editor.pk}").status_code == 204
    assert api_owner.delete(f"{ROOT}/members/{editor.pk}").status_code == 404
    listed = api_owner.get(f"{ROOT}/members").json()["items"]
    assert {entry["name"] for entry in listed} == {"Olivia Owner", "Vera Viewer"}


def test_a_number_that_nobody_can_have_is_nobodys(api_owner):
    assert api_owner.get(f"{ROOT}/members/{10**25}").status_code == 404
    assert api_owner.delete(f"{ROOT}/members/{10**25}").status_code == 404


def test_an_invitation_works_and_its_link_is_kept_nowhere(api_owner, outsider, project):
    made = api_owner.post(f"{ROOT}/invitations", {"role": "viewer", "days": 1}, Idempotency_Key="i")
    link = made.json()["link"]
    token = link.rstrip("/").rpartition("/")[2]
    assert made.status_code == 201
    again = api_owner.post(f"{ROOT}/invitations", {"role": "viewer", "days": 1}, Idempotency_Key="i")
    assert again.json() == made.json() | {"link": None}
    assert token not in str(list(IdempotencyKey.objects.values()))
    assert token not in api_owner.get(f"{ROOT}/invitations").content.decode()

    invitation_accept(token=token, user=outsider)
    assert Membership.objects.get(project=project, user=outsider).role == "viewer"
    (listed,) = api_owner.get(f"{ROOT}/invitations").json()["items"]
    assert (listed["state"], listed["used_by"]) == ("used", "Otto Outsider")
    assert api_owner.post(f"{ROOT}/invitations/{listed['id']}/revoke").status_code == 409


def test_an_invitation_is_revoked(api_owner):
    made = api_owner.post(f"{ROOT}/invitations", {}).json()
    assert api_owner.post(f"{ROOT}/invitations/{made['id']}/revoke").json()["state"] == "revoked"


def test_an_invitation_is_mailed_where_that_can_be(api_owner, settings, django_capture_on_commit_callbacks):
    refused = api_owner.post(f"{ROOT}/invitations", {"email": "ada@example.org"})
    assert refused.json()["errors"][0]["where"] == "body.email"
    settings.MAIL_CONFIGURED = True
    assert api_owner.post(f"{ROOT}/invitations", {"email": "nobody"}).status_code == 422
    with django_capture_on_commit_callbacks(execute=True):
        made = api_owner.post(f"{ROOT}/invitations", {"email": "ada@example.org"})
    assert made.json()["link"] in mail.outbox[0].body
    assert Invitation.objects.count() == 1


# --- endpoints ------------------------------------------------------------------------------------
NEW = {
    "name": "gpu",
    "kind": "openai_compatible",
    "url": "https://gpu.example.org/v1",
    "api_key_variable": "WIGGUM_KEY_GPU",
}


@pytest.fixture
def admin(project):
    user = User.objects.create_superuser("ada@example.org", "x", name="Ada Admin")
    Membership.objects.create(project=project, user=user, role="owner")
    return user


@pytest.fixture
def in_person(admin, monkeypatch):
    monkeypatch.setattr("refinement.selectors.health.check_endpoints", lambda specs: [])
    browser = Client(raise_request_exception=False)
    browser.force_login(admin)
    return ApiClient("", browser)


def test_an_administrator_adds_changes_and_removes_an_endpoint(in_person):
    assert in_person.post("/endpoints", NEW).json() == NEW | {"concurrency": None, "enabled": True}
    listed = {entry["name"]: entry for entry in in_person.get("/endpoints").json()["items"]}
    assert (listed["gpu"]["origin"], listed["ollama"]["origin"]) == ("added here", "environment")
    tag = in_person.get("/endpoints/gpu").headers["ETag"]
    assert in_person.patch("/endpoints/gpu", {"concurrency": 2}).status_code == 428
    done = in_person.patch("/endpoints/gpu", {"concurrency": 2}, If_Match=tag)
    assert (done.json()["concurrency"], done.json()["api_key_variable"]) == (2, "WIGGUM_KEY_GPU")
    assert in_person.patch("/endpoints/gpu", {"enabled": False}, If_Match=tag).status_code == 412
    assert in_person.delete("/endpoints/gpu").status_code == 204
    assert in_person.get("/endpoints/gpu").status_code == 404
    actions = (
        AuditEntry.objects.filter(object_type="endpoint").order_by("id").values_list("action", flat=True)
    )
    assert list(actions) == ["endpoint.create", "endpoint.change", "endpoint.remove"]


def test_a_new_address_gets_no_key_that_was_meant_for_the_old_one(in_person):
    tag = in_person.post("/endpoints", NEW) and in_person.get("/endpoints/gpu").headers["ETag"]
    moved = in_person.patch("/endpoints/gpu", {"url": "https://elsewhere.example.org/v1"}, If_Match=tag)
    assert moved.json()["api_key_variable"] == ""
    tag = moved.headers["ETag"]
    named = {"url": NEW["url"], "api_key_variable": "WIGGUM_KEY_GPU"}
    assert (
        in_person.patch("/endpoints/gpu", named, If_Match=tag).json()["api_key_variable"] == "WIGGUM_KEY_GPU"
    )


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"name": "ollama"}, "body.name"),
        ({"name": "with space"}, "body.name"),
        ({"url": "ftp://gpu.example.org"}, "body.url"),
        ({"url": "https://me:key@gpu.example.org/v1"}, "body.url"),
        ({"api_key_variable": "sk-a-real-key"}, "body.api_key_variable"),
        ({"api_key_variable": "POSTGRES_PASSWORD"}, "body.api_key_variable"),
        ({"kind": "command"}, "body.kind"),
        ({"concurrency": 0}, "body.concurrency"),
    ],
)
def test_what_cannot_be_an_endpoint_is_said(in_person, change, where):
    answer = in_person.post("/endpoints", NEW | change)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == where
    assert not Endpoint.objects.exists()


def test_a_name_is_given_once(in_person):
    in_person.post("/endpoints", NEW)
    assert in_person.post("/endpoints", NEW).status_code == 422


def test_a_projects_token_looks_but_changes_nothing_of_the_instance(in_person, admin, project):
    script = api_client(admin, project, "owner")
    assert script.get("/endpoints").status_code == 200
    refused = script.post("/endpoints", NEW)
    assert refused.status_code == 403
    assert "token" in refused.json()["detail"]
    assert not Endpoint.objects.exists()
