"""Creating and revoking invitations."""

import re

import pytest
from django.core import mail

from refinement.models import AuditEntry, Invitation

pytestmark = pytest.mark.django_db
FORM = {"role": "viewer", "days": "7"}


def invite(client, project, **data):
    return client.post(f"/p/{project.slug}/members/invite/", FORM | data)


def test_the_link_is_shown_once(as_owner, project):
    answer = invite(as_owner, project)
    page = answer.content.decode()
    found = re.search(r'value="(http://testserver/join/([\w-]{43})/)"', page)

    assert answer.status_code == 201
    assert found
    assert "no-store" in answer.headers["Cache-Control"]
    assert found[2] not in as_owner.get(f"/p/{project.slug}/members/").content.decode()
    assert Invitation.objects.get().state == "open"
    assert mail.outbox == []


def test_the_note_says_whom_it_is_for(as_owner, project):
    page = invite(as_owner, project, note="Mo from <b>support").content.decode()

    assert page.count("<bdi>Mo from &lt;b&gt;support</bdi>") == 2  # beside the link and in the list
    assert AuditEntry.objects.get(action="invitation.create").after["note"] == "Mo from <b>support"


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:8000"])
def test_a_link_that_works_only_here_is_warned_about(as_owner, project, settings, host):
    settings.ALLOWED_HOSTS = ["*"]
    address = f"/p/{project.slug}/members/invite/"

    assert (
        "works only on this computer" in as_owner.post(address, FORM, headers={"Host": host}).content.decode()
    )
    assert "works only on this computer" not in invite(as_owner, project).content.decode()


def test_the_link_has_the_public_address(as_owner, project, settings):
    settings.SITE_URL = "https://wiggum.example.org"
    address = f"/p/{project.slug}/members/invite/"
    page = as_owner.post(address, FORM, headers={"Host": "localhost"}).content.decode()

    assert 'value="https://wiggum.example.org/join/' in page
    assert "works only on this computer" not in page


@pytest.mark.parametrize(("field", "value"), [("role", "boss"), ("days", "3650"), ("days", "")])
def test_wrong_data_is_said_beside_its_field(as_owner, project, field, value):
    answer = invite(as_owner, project, **{field: value})

    assert answer.status_code == 422
    assert f'id="id_{field}_error"' in answer.content.decode()
    assert not Invitation.objects.exists()


def test_it_is_mailed_where_mail_is_set_up(as_owner, project, settings):
    settings.MAIL_CONFIGURED = True
    project.name = "Docs\r\nBcc: everybody@example.org <b>"
    project.save()

    answer = invite(as_owner, project, email="nina@example.org")

    (sent,) = mail.outbox
    assert sent.to == ["nina@example.org"]
    assert "\n" not in sent.subject
    assert re.search(r"http://testserver/join/[\w-]{43}/", sent.body)
    assert "<b>" in sent.body
    assert "Sent to <bdi>nina@example.org" in answer.content.decode()
    assert Invitation.objects.get().email == "nina@example.org"


def test_a_mail_server_that_fails_leaves_the_link(as_owner, project, settings):
    settings.MAIL_CONFIGURED = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9

    answer = invite(as_owner, project, email="nina@example.org")

    assert answer.status_code == 201
    assert "could not be sent" in answer.content.decode()
    assert "http://testserver/join/" in answer.content.decode()


def test_a_wrong_mail_address_is_refused(as_owner, project, settings):
    settings.MAIL_CONFIGURED = True

    assert invite(as_owner, project, email="nobody").status_code == 422
    assert not Invitation.objects.exists()


def test_only_owners_make_and_revoke(as_editor, as_viewer, as_outsider, as_owner, project):
    invite(as_owner, project)
    number = Invitation.objects.get().pk
    for client, status in ((as_editor, 403), (as_viewer, 403), (as_outsider, 404)):
        assert invite(client, project).status_code == status
        answer = client.post(f"/p/{project.slug}/members/invitations/{number}/revoke/")
        assert answer.status_code == status
    assert Invitation.objects.get().state == "open"


def test_an_owner_revokes(as_owner, project):
    invite(as_owner, project)
    address = f"/p/{project.slug}/members/invitations/{Invitation.objects.get().pk}/revoke/"

    assert "Invitation revoked." in as_owner.post(address, follow=True).content.decode()
    assert "already used or revoked" in as_owner.post(address, follow=True).content.decode()
    assert Invitation.objects.get().state == "revoked"
    assert AuditEntry.objects.filter(action="invitation.revoke").count() == 1


def test_other_methods_are_refused(as_owner, project):
    assert as_owner.get(f"/p/{project.slug}/members/invite/").status_code == 405
