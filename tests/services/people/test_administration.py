"""Closing accounts and naming administrators: one who can sign in is always left."""

import pytest
from django.core.exceptions import PermissionDenied

from refinement.models import AuditEntry, Invitation, User
from refinement.selectors.projects.lists import NotFound
from refinement.services.people.administration import LastAdministrator, person_activate, person_administrate
from refinement.services.people.invitations import invitation_make

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss(db) -> User:
    return User.objects.create_superuser("berta@example.org", "correct horse battery", name="Berta Boss")


def test_a_closed_account_is_out_at_once_and_can_be_opened_again(boss, owner, as_owner, project):
    invitation_make(project=project, role="viewer", days=7, by=owner)

    assert person_activate(person_id=owner.pk, active=False, by=boss)

    assert as_owner.get("/account/").status_code == 302
    assert Invitation.objects.get().state == "revoked"
    assert person_activate(person_id=owner.pk, active=True, by=boss)
    assert as_owner.get("/account/").status_code == 302, "a session that was ended stays so"
    actions = list(AuditEntry.objects.filter(object_type="person").values_list("action", flat=True))
    assert actions == ["person.open", "person.close"]


def test_administrators_are_named_and_recorded(boss, owner):
    assert person_administrate(person_id=owner.pk, administrator=True, by=boss)
    assert not person_administrate(person_id=owner.pk, administrator=True, by=boss)

    owner.refresh_from_db()
    assert (owner.is_superuser, owner.is_staff) == (True, True)
    entry = AuditEntry.objects.get()
    assert entry.before == {"person": owner.email, "administrator": False}
    assert entry.after == {"person": owner.email, "administrator": True}


def test_the_last_administrator_stays(boss, owner):
    closed = User.objects.create_superuser("closed@example.org", None, is_active=False)

    with pytest.raises(LastAdministrator):
        person_activate(person_id=boss.pk, active=False, by=boss)
    with pytest.raises(LastAdministrator):
        person_administrate(person_id=boss.pk, administrator=False, by=boss)

    assert person_administrate(person_id=closed.pk, administrator=False, by=boss)
    boss.refresh_from_db()
    assert boss.is_superuser
    assert boss.is_active


def test_nobody_else_may(boss, owner):
    with pytest.raises(PermissionDenied):
        person_activate(person_id=boss.pk, active=False, by=owner)
    with pytest.raises(PermissionDenied):
        person_administrate(person_id=owner.pk, administrator=True, by=owner)


def test_an_unknown_person_is_not_found(boss):
    with pytest.raises(NotFound):
        person_activate(person_id=4711, active=False, by=boss)
