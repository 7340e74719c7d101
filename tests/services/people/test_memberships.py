"""Roles, removal and leaving: a project always keeps an owner who can sign in."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.core.exceptions import PermissionDenied
from django.db import connection

from refinement.models import AuditEntry, Invitation, Membership, User
from refinement.selectors.projects.lists import NotFound
from refinement.services.people.invitations import invitation_make
from refinement.services.people.memberships import (
    LastOwner,
    member_leave,
    member_remove,
    member_role_change,
    project_adopt,
)
from tests.conftest import member

pytestmark = pytest.mark.django_db


def roles(project) -> dict[str, str]:
    return dict(Membership.objects.filter(project=project).values_list("user__email", "role"))


def test_a_role_is_changed_and_recorded(project, owner, viewer):
    assert member_role_change(project=project, user_id=viewer.pk, role="editor", by=owner)

    entry = AuditEntry.objects.get()
    assert roles(project)[viewer.email] == "editor"
    assert (entry.action, entry.object_type, entry.object_id) == ("member.role", "member", str(viewer.pk))
    assert entry.before == {"member": viewer.email, "role": "viewer"}
    assert entry.after == {"member": viewer.email, "role": "editor"}
    assert (entry.user, entry.project) == (owner, project)


def test_the_same_role_again_changes_nothing(project, owner, viewer):
    assert not member_role_change(project=project, user_id=viewer.pk, role="viewer", by=owner)
    assert not AuditEntry.objects.exists()


def test_a_member_is_removed_and_it_is_recorded(project, owner, editor):
    member_remove(project=project, user_id=editor.pk, by=owner)

    assert roles(project) == {owner.email: "owner"}
    assert User.objects.filter(pk=editor.pk).exists()
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.before["role"], entry.after) == ("member.remove", "editor", {})


def test_anyone_may_leave(project, owner, viewer):
    member_leave(project=project, user=viewer)

    assert roles(project) == {owner.email: "owner"}
    assert AuditEntry.objects.get().action == "member.leave"


@pytest.mark.parametrize(
    "go",
    [
        lambda project, owner: member_role_change(project=project, user_id=owner.pk, role="editor", by=owner),
        lambda project, owner: member_remove(project=project, user_id=owner.pk, by=owner),
        lambda project, owner: member_leave(project=project, user=owner),
    ],
    ids=["demoted", "removed", "left"],
)
@pytest.mark.parametrize("with_closed_owner", [False, True])
def test_the_last_owner_stays(project, owner, editor, go, with_closed_owner):
    if with_closed_owner:
        closed = member(project, "owner", "closed@example.org", "Closed")
        User.objects.filter(pk=closed.pk).update(is_active=False)

    with pytest.raises(LastOwner):
        go(project, owner)

    assert roles(project)[owner.email] == "owner"
    assert not AuditEntry.objects.exists()


def test_somebody_from_elsewhere_is_not_found(project, owner, outsider):
    with pytest.raises(NotFound):
        member_role_change(project=project, user_id=outsider.pk, role="viewer", by=owner)
    with pytest.raises(NotFound):
        member_remove(project=project, user_id=outsider.pk, by=owner)


def test_who_is_no_longer_owner_changes_nothing(project, owner, editor, viewer):
    with pytest.raises(PermissionDenied, match="no longer an owner"):
        member_remove(project=project, user_id=viewer.pk, by=editor)
    assert viewer.email in roles(project)


@pytest.mark.parametrize("change", ["removed", "demoted", "left"])
def test_an_owner_who_goes_takes_their_open_invitations_along(project, owner, change):
    second = member(project, "owner", "second@example.org", "Second")
    invitation_make(project=project, role="owner", days=7, by=second)
    invitation_make(project=project, role="viewer", days=7, by=owner)

    if change == "removed":
        member_remove(project=project, user_id=second.pk, by=owner)
    elif change == "demoted":
        member_role_change(project=project, user_id=second.pk, role="viewer", by=owner)
    else:
        member_leave(project=project, user=second)

    states = {entry.created_by: entry.state for entry in Invitation.objects.all()}
    assert states == {second: "revoked", owner: "open"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", ["demote each other", "leave"])
def test_of_two_owners_at_once_one_stays(project, owner, change):
    second = member(project, "owner", "second@example.org", "Second")
    start = Barrier(2)

    def go(pair: tuple[User, User]) -> str:
        me, other = pair
        start.wait(timeout=10)
        try:
            if change == "leave":
                member_leave(project=project, user=me)
            else:
                member_role_change(project=project, user_id=other.pk, role="viewer", by=me)
        except (LastOwner, PermissionDenied) as refusal:
            return type(refusal).__name__
        finally:
            connection.close()
        return "done"

    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(go, [(owner, second), (second, owner)]))

    assert said.count("done") == 1
    assert list(roles(project).values()).count("owner") == 1
    assert AuditEntry.objects.count() == 1


def test_a_project_without_an_owner_is_adopted_once(project, owner, outsider):
    assert not project_adopt(project=project, by=outsider)
    User.objects.filter(pk=owner.pk).update(is_active=False)

    assert project_adopt(project=project, by=outsider)

    assert roles(project)[outsider.email] == "owner"
    assert AuditEntry.objects.get().action == "member.adopt"
