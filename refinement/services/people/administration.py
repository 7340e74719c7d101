"""Administration of accounts. An instance always keeps one active administrator."""

from allauth.mfa.models import Authenticator
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from refinement.models import ApiToken, ExternalIdentity, Invitation, ShareLink, User
from refinement.selectors.projects.lists import NotFound
from refinement.services.audit import audit_record
from refinement.services.people.memberships import share_links_end, tokens_end
from refinement.services.people.sessions import sessions_end
from refinement.services.people.sign_in_log import factor_label


class LastAdministrator(Exception):
    """Refused: the instance would have no active administrator."""


@transaction.atomic
def person_activate(*, person_id: int, active: bool, by: User) -> bool:
    """Deactivate an account with its sessions, invitations, share links and tokens, or reactivate it.

    Return False if it was already in that state. Raises LastAdministrator, NotFound, PermissionDenied.
    """
    person = _person_for(person_id, by)
    if person.is_active is active:
        return False
    if not active:
        _require_another(person)
        sessions_end(user=person)
        Invitation.objects.filter(created_by=person, used_at=None, revoked_at=None).update(
            revoked_at=timezone.now()
        )
        share_links_end(ShareLink.objects.all(), person)
        tokens_end(ApiToken.objects.all(), person)
    person.is_active = active
    person.save(update_fields=["is_active"])
    _record(
        "person.open" if active else "person.close", person, by, {"active": not active}, {"active": active}
    )
    return True


@transaction.atomic
def person_administrate(*, person_id: int, administrator: bool, by: User) -> bool:
    """Grant or revoke administrator rights. Return False if nothing changed. Raises LastAdministrator."""
    person = _person_for(person_id, by)
    if person.is_superuser is administrator:
        return False
    if not administrator:
        _require_another(person)
    person.is_superuser = person.is_staff = administrator
    person.save(update_fields=["is_superuser", "is_staff"])
    values = ({"administrator": not administrator}, {"administrator": administrator})
    _record("person.promote" if administrator else "person.demote", person, by, *values)
    return True


@transaction.atomic
def person_sign_in_reset(*, person_id: int, by: User) -> bool:
    """Reset the person's sign-in to the password alone. Return False if there was nothing to reset."""
    return sign_in_reset(person=_person_for(person_id, by), by=by)


@transaction.atomic
def sign_in_reset(*, person: User, by: User | None) -> bool:
    """Remove second factors, passkeys and the sign-in provider. `by` is None on the command line."""
    means = [factor_label(entry) for entry in Authenticator.objects.filter(user=person).order_by("pk")]
    Authenticator.objects.filter(user=person).delete()
    connected, _ = ExternalIdentity.objects.filter(user=person).delete()
    if not means and not connected:
        return False
    # A lost device may still be signed in.
    sessions_end(user=person)
    audit_record(
        action="person.reset",
        object_type="person",
        object_id=person.pk,
        user=by,
        before={"person": person.email, "means": means, "provider": bool(connected)},
        after={"person": person.email, "means": [], "provider": False},
    )
    return True


def _person_for(person_id: int, by: User) -> User:
    # All administrators are locked in one order, so two cannot deactivate each other at once.
    administrators = User.objects.select_for_update().filter(is_superuser=True, is_active=True).order_by("pk")
    if by.pk not in [administrator.pk for administrator in administrators]:
        raise PermissionDenied("You are no longer an administrator of this instance.")
    person = User.objects.filter(pk=person_id).first()
    if person is None:
        raise NotFound("This instance has no such person.")
    return person


def _require_another(person: User) -> None:
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=person.pk)
    if person.is_superuser and person.is_active and not others.exists():
        raise LastAdministrator


def _record(action: str, person: User, by: User, before: dict[str, bool], after: dict[str, bool]) -> None:
    who = {"person": person.email}
    audit_record(
        action=action,
        object_type="person",
        object_id=person.pk,
        user=by,
        before={**who, **before},
        after={**who, **after},
    )
