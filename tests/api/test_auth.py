"""Authentication: valid tokens and sessions are accepted, everything else is refused."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from refinement.models import ApiToken, AuditEntry, Membership, User
from refinement.services.people.administration import person_activate
from refinement.services.people.memberships import member_leave, member_role_change
from refinement.services.people.tokens import token_digest, token_make, token_revoke
from tests.api.conftest import ApiClient, api_client

pytestmark = pytest.mark.django_db


def refused(answer) -> None:
    assert answer.status_code == 401
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer wgm_wrong", "Basic d2d0bTp4", "Bearer " + "x" * 9000]
)
def test_nothing_is_answered_without_auth(project, header):
    for address in ("/api/v1/projects", "/api/v1/projects/alpha", "/api/v1/openapi.json"):
        refused(Client().get(address, headers={"Authorization": header} if header else {}))


def test_a_token_reads_its_project_and_the_document(project, api_viewer):
    said = api_viewer.get("/projects").json()
    assert [(entry["slug"], entry["role"]) for entry in said["items"]] == [("alpha", "viewer")]
    assert said["next"] is None
    assert api_viewer.get("/openapi.json").json()["info"]["title"] == "Wiggum"


def test_only_a_digest_of_the_token_is_kept(owner, project):
    row, text = token_make(project=project, by=owner, name="CI", role="owner", days=7)
    assert text.startswith("wgm_")
    assert row.digest == token_digest(text)
    assert text not in str(ApiToken.objects.values_list())
    assert row.prefix == text[:10]
    assert text not in str(AuditEntry.objects.values_list())


def test_a_wrong_token_does_not_fall_back_to_the_session(as_owner):
    refused(as_owner.get("/api/v1/projects", headers={"Authorization": "Bearer wgm_wrong"}))


def test_a_token_is_of_one_project(api_owner, owner, other_project):
    Membership.objects.create(project=other_project, user=owner, role="owner")
    assert api_owner.get("/projects/beta").status_code == 404
    assert len(api_owner.get("/projects").json()["items"]) == 1


def test_an_outsiders_token_finds_nothing(api_outsider, project):
    assert api_outsider.get("/projects/alpha").status_code == 404


def test_a_token_does_no_more_than_its_own_role(owner, project):
    script = api_client(owner, project, "viewer")
    tag = script.get("/projects/alpha").headers["ETag"]
    answer = script.patch("/projects/alpha", {"name": "Mine"}, If_Match=tag)
    assert answer.status_code == 403
    assert "viewer" in answer.json()["detail"]


def test_a_token_loses_what_its_maker_loses(owner, editor, project):
    member = User.objects.create_user("olga@example.org", name="Olga")
    Membership.objects.create(project=project, user=member, role="owner")
    script = api_client(member, project, "owner")
    tag = script.get("/projects/alpha").headers["ETag"]
    member_role_change(project=project, user_id=member.pk, role="viewer", by=owner)
    assert script.get("/projects/alpha").json()["role"] == "viewer"
    assert script.patch("/projects/alpha", {"name": "Mine"}, If_Match=tag).status_code == 403


def test_a_token_cannot_be_made_above_its_maker(editor, project):
    with pytest.raises(Exception, match="cannot have a higher role"):
        token_make(project=project, by=editor, name="CI", role="owner", days=7)


def test_who_leaves_takes_the_tokens_along(editor, api_editor, project):
    member_leave(project=project, user=editor)
    refused(api_editor.get("/projects/alpha"))
    Membership.objects.create(project=project, user=editor, role="editor")
    refused(api_editor.get("/projects/alpha"))


def test_a_membership_that_is_gone_is_enough(editor, api_editor):
    Membership.objects.filter(user=editor).delete()
    refused(api_editor.get("/projects/alpha"))


def test_a_closed_accounts_token_does_not_work(editor, api_editor):
    admin = User.objects.create_superuser("ada@example.org", "x")
    person_activate(person_id=editor.pk, active=False, by=admin)
    refused(api_editor.get("/projects/alpha"))
    person_activate(person_id=editor.pk, active=True, by=admin)
    refused(api_editor.get("/projects/alpha"))


def test_revoked_and_expired_tokens_do_not_work(owner, project):
    one, text = token_make(project=project, by=owner, name="CI", role="owner", days=7)
    ApiToken.objects.filter(pk=one.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    refused(ApiClient(text).get("/projects"))
    two, text = token_make(project=project, by=owner, name="CI", role="owner", days=0)
    assert ApiClient(text).get("/projects").status_code == 200
    assert token_revoke(project=project, number=two.pk, by=owner)[1] is True
    assert token_revoke(project=project, number=two.pk, by=owner)[1] is False
    refused(ApiClient(text).get("/projects"))


def test_what_a_token_does_is_on_record_under_its_name(api_owner, owner, project):
    tag = api_owner.get("/projects/alpha").headers["ETag"]
    assert api_owner.patch("/projects/alpha", {"name": "Gamma"}, If_Match=tag).status_code == 200
    entry = AuditEntry.objects.filter(action="project.settings").get()
    assert (entry.user, entry.actor) == (owner, "Olivia Owner, by token CI")


def test_the_last_use_is_noted_once_a_minute(api_owner):
    api_owner.get("/projects")
    first = ApiToken.objects.get().last_used_at
    api_owner.get("/projects")
    assert ApiToken.objects.get().last_used_at == first is not None


# --- people who are signed in ---------------------------------------------------------------------
def test_a_session_reads_and_writes_with_its_csrf_token(owner, project):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(owner)
    read = browser.get("/api/v1/projects/alpha")
    assert read.json()["role"] == "owner"
    assert "RateLimit-Limit" not in read.headers
    sent = {"data": '{"name": "Gamma"}', "content_type": "application/json"}
    headers = {"If-Match": read.headers["ETag"]}
    without = browser.patch("/api/v1/projects/alpha", headers=headers, **sent)
    assert (without.status_code, without.headers["Content-Type"]) == (403, "application/problem+json")
    assert "CSRF" in without.json()["detail"]
    browser.get("/account/")
    headers["X-CSRFToken"] = browser.cookies["csrftoken"].value
    assert browser.patch("/api/v1/projects/alpha", headers=headers, **sent).json()["name"] == "Gamma"
    assert AuditEntry.objects.filter(action="project.settings").get().actor == "Olivia Owner"


def test_a_token_needs_no_csrf_token(owner, project):
    _, text = token_make(project=project, by=owner, name="CI", role="owner", days=7)
    script = ApiClient(text, Client(enforce_csrf_checks=True))
    tag = script.get("/projects/alpha").headers["ETag"]
    assert script.patch("/projects/alpha", {"sharing": False}, If_Match=tag).status_code == 200
