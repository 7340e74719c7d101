"""What administrators change about people. An instance always keeps one who can sign in."""

from allauth.mfa.models import Authenticator
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from refinement.models import ApiToken, ExternalIdentity, Invitation, ShareLink, User
from refinement.selectors.projects.lists import NotFound
from refinement.services.audit import audit_record
from refinement.services.people.memberships import share_links_end, tokens_end
from refinement.services.people.sessions import sessions_end
from refinement.services.people.sign_in_log import means_words


class LastAdministrator(Exception):
    """Nobody would be left to administer this instance: refused."""


@transaction.atomic
def person_activate(*, person_id: int, active: bool, by: User) -> bool:
    """Closes an account, and ends its sessions, invitations, share links and tokens; or opens it again."""
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
    """Makes a person an administrator of the instance, or no longer one."""
    person = _person_for(person_id, by)
    if person.is_superuser is administrator:
        return False
    if not administrator:
        _require_another(person)
    person.is_superuser = person.is_staff = administrator
    person.save(update_fields=["is_superuser", "is_staff"])
    said = ({"administrator": not administrator}, {"administrator": administrator})
    _record("person.promote" if administrator else "person.demote", person, by, *said)
    return True


@transaction.atomic
def person_sign_in_reset(*, person_id: int, by: User) -> bool:
    """Lets somebody in with the password alone; False where that was so."""
    return sign_in_reset(person=_person_for(person_id, by), by=by)


@transaction.atomic
def sign_in_reset(*, person: User, by: User | None) -> bool:
    """Takes second factors, passkeys and the provider's connection away; `by` nobody on the command line."""
    means = [means_words(entry) for entry in Authenticator.objects.filter(user=person).order_by("pk")]
    Authenticator.objects.filter(user=person).delete()
    connected, _ = ExternalIdentity.objects.filter(user=person).delete()
    if not means and not connected:
        return False
    # Whoever has the lost device may be signed in on it.
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
    # All administrators are locked in one order: of two who close each other's accounts, one is second.
    administrators = User.objects.select_for_update().filter(is_superuser=True, is_active=True).order_by("pk")
    if by.pk not in [administrator.pk for administrator in administrators]:
        raise PermissionDenied("You are no longer an administrator of this instance.")
    person = User.objects.filter(pk=person_id).first()
    if person is None:
        raise NotFound("There is no such person on this instance.")
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
