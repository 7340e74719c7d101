"""Invitations: single use, expiring, revocable, and stored only as a hash."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.forms.models import model_to_dict
from django.utils import timezone

from refinement.models import AuditEntry, Invitation, Membership, User
from refinement.selectors.projects.lists import NotFound
from refinement.services.people.invitations import (
    AddressTaken,
    AlreadyMember,
    InvitationSpent,
    invitation_accept,
    invitation_accept_new,
    invitation_for,
    invitation_make,
    invitation_revoke,
)

pytestmark = pytest.mark.django_db
PERSON = {"name": "Nina New", "email": "Nina@Example.org", "password": "seven quiet rivers"}


@pytest.fixture
def made(project, owner) -> tuple[Invitation, str]:
    return invitation_make(project=project, role="editor", days=7, by=owner)


def test_only_a_digest_is_kept(made):
    invitation, token = made
    rows = [model_to_dict(Invitation.objects.get()), *AuditEntry.objects.values()]

    assert len(token) >= 43
    assert token not in str(rows)
    assert invitation_for(token) == invitation
    assert AuditEntry.objects.get().after["role"] == "editor"


def test_only_owners_invite(project, owner, editor):
    with pytest.raises(PermissionDenied):
        invitation_make(project=project, role="viewer", days=7, by=editor)
    assert not Invitation.objects.exists()


def test_a_new_person_gets_an_account_and_the_role(project, made):
    invitation, token = made

    user = invitation_accept_new(token=token, **PERSON)

    assert (user.email, user.is_superuser, user.check_password(PERSON["password"])) == (
        "nina@example.org", False, True,
    )  # fmt: skip
    assert Membership.objects.get(user=user).role == "editor"
    invitation.refresh_from_db()
    assert (invitation.state, invitation.used_by) == ("used", user)
    entry = AuditEntry.objects.get(action="invitation.accept")
    assert entry.after == {"member": user.email, "role": "editor", "invited_by": "Olivia Owner"}


def test_somebody_with_an_account_joins(project, made, outsider):
    invitation_accept(token=made[1], user=outsider)
    assert Membership.objects.get(project=project, user=outsider).role == "editor"


def test_it_works_once(made, outsider):
    invitation_accept(token=made[1], user=outsider)

    with pytest.raises(InvitationSpent):
        invitation_accept_new(token=made[1], **PERSON)
    with pytest.raises(InvitationSpent):
        invitation_for(made[1])
    assert not User.objects.filter(email__iexact=PERSON["email"]).exists()


def test_a_member_does_not_spend_it(made, editor):
    with pytest.raises(AlreadyMember):
        invitation_accept(token=made[1], user=editor)
    assert invitation_for(made[1]).state == "open"


def test_a_taken_address_does_not_spend_it(made, outsider):
    with pytest.raises(AddressTaken):
        invitation_accept_new(token=made[1], **(PERSON | {"email": outsider.email.upper()}))
    assert invitation_for(made[1]).state == "open"


def test_an_expired_one_lets_nobody_in(made):
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    with pytest.raises(InvitationSpent):
        invitation_accept_new(token=made[1], **PERSON)
    assert not User.objects.filter(email__iexact=PERSON["email"]).exists()


def test_a_revoked_one_lets_nobody_in(project, owner, made, outsider):
    assert invitation_revoke(project=project, number=made[0].pk, by=owner)
    assert not invitation_revoke(project=project, number=made[0].pk, by=owner)

    with pytest.raises(InvitationSpent):
        invitation_accept(token=made[1], user=outsider)
    assert AuditEntry.objects.filter(action="invitation.revoke").count() == 1


def test_another_projects_invitation_is_not_found(other_project, made, outsider):
    with pytest.raises(NotFound):
        invitation_revoke(project=other_project, number=made[0].pk, by=outsider)


@pytest.mark.parametrize("token", ["", "guessed", "x" * 10_000, "\x00", "ä" * 50])
def test_a_guess_lets_nobody_in(made, token):
    with pytest.raises(InvitationSpent):
        invitation_for(token)


@pytest.mark.django_db(transaction=True)
def test_of_two_who_accept_at_once_one_is_in(project, made):
    start = Barrier(2)

    def accept(number: int) -> bool:
        start.wait(timeout=10)
        try:
            invitation_accept_new(token=made[1], **(PERSON | {"email": f"new{number}@example.org"}))
        except InvitationSpent:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(accept, range(2))) == [False, True]
    assert User.objects.filter(email__startswith="new").count() == 1
    assert Membership.objects.filter(project=project).count() == 2
