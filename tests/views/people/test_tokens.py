"""The page of API tokens: created and shown once, listed, revoked by their creators and owners."""

import pytest
from django.urls import reverse

from refinement.models import ApiToken, AuditEntry
from refinement.services.people.memberships import member_role_change
from refinement.services.people.tokens import token_digest, token_make

pytestmark = pytest.mark.django_db
ADDRESS = "/p/alpha/tokens/"


def made(client, **changes: str):
    return client.post(ADDRESS, {"name": "Nightly evals", "role": "viewer", "days": "30"} | changes)


def test_a_token_is_shown_once(as_editor, editor):
    answer = made(as_editor, role="editor")
    text = answer.context["text"]
    assert (answer.status_code, answer.content.decode().count(text)) == (201, 1)
    assert "no-store" in answer.headers["Cache-Control"]
    row = ApiToken.objects.get()
    assert (row.digest, row.role, row.created_by) == (token_digest(text), "editor", editor)
    later = as_editor.get(ADDRESS).content.decode()
    assert text not in later
    assert row.prefix in later
    entry = AuditEntry.objects.get(action="token.create")
    assert text not in str(entry.after)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": " "}, "Enter a name that says where the token is used"),
        ({"role": "owner"}, "Select a valid choice"),
        ({"days": "9"}, "Select a valid choice"),
        ({"name": "x" * 61}, "at most 60"),
    ],
)
def test_what_cannot_be_made_is_said_beside_its_field(as_editor, changes, words):
    answer = made(as_editor, **changes)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert ApiToken.objects.count() == 0


def test_owners_see_everybodys_and_others_their_own(as_owner, as_viewer, as_editor):
    made(as_editor, name="Edgar's")
    made(as_viewer, name="Vera's")
    assert "Edgar&#x27;s" in as_owner.get(ADDRESS).content.decode()
    seen = as_viewer.get(ADDRESS).content.decode()
    assert "Vera&#x27;s" in seen
    assert "Edgar&#x27;s" not in seen


def test_a_token_is_revoked_by_its_maker_or_an_owner(as_owner, as_viewer, as_editor, as_outsider):
    made(as_editor)
    address = reverse("token_revoke", args=["alpha", ApiToken.objects.get().pk])
    assert as_viewer.post(address).status_code == 403
    assert as_outsider.post(address).status_code == 404
    assert ApiToken.objects.get().state == "open"
    assert as_editor.post(address).status_code == 302
    assert ApiToken.objects.get().state == "revoked"
    assert "was already revoked" in as_owner.post(address, follow=True).content.decode()
    assert AuditEntry.objects.filter(action="token.revoke").count() == 1


def test_the_page_says_what_a_token_may_still_do(as_owner, owner, editor, project):
    token_make(project=project, by=editor, name="CI", role="editor", days=7)
    member_role_change(project=project, user_id=editor.pk, role="viewer", by=owner)
    assert "created as editor" in as_owner.get(ADDRESS).content.decode()
