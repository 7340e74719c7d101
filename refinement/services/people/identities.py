"""Who somebody is here whom a sign-in provider knows: an account is found or comes from an invitation."""

from typing import Literal

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils import timezone

from refinement.identity.openid import Person
from refinement.models import ExternalIdentity, User
from refinement.services.audit import audit_record
from refinement.services.people.invitations import AddressTaken, InvitationSpent, invitation_accept_new
from refinement.services.people.sessions import sessions_end

SUBJECT_CHARS = 255
ADDRESS_CHARS = 254


class NobodyHere(Exception):
    """No account belongs to this person, and no invitation lets them in."""


class AddressUnproven(Exception):
    """The provider does not vouch for the mail address, so it opens no account."""


class AddressOfAnother(Exception):
    """The account with this mail address belongs to somebody else at the provider."""


Found = Literal["known", "connected", "invited"]


@transaction.atomic
def person_found(*, issuer: str, person: Person, invitation: str = "") -> tuple[User, Found]:
    """The account, and how it was found; raises NobodyHere, AddressUnproven, AddressOfAnother."""
    if not 0 < len(person.subject) <= SUBJECT_CHARS or "\x00" in person.subject:
        raise NobodyHere
    known = ExternalIdentity.objects.select_related("user").filter(issuer=issuer, subject=person.subject)
    identity = known.first()
    if identity is not None:
        known.update(last_used_at=timezone.now())
        return identity.user, "known"
    if not person.email_verified or not _is_address(person.email):
        raise AddressUnproven
    user = User.objects.select_for_update().filter(email__iexact=person.email).first()
    if user is None:
        return _invited(issuer, person, invitation), "invited"
    # The same person may have come back twice at once: the second waited for the lock on the account.
    if not known.filter(user=user).exists():
        _connect(issuer, person, user)
    return user, "connected"


@transaction.atomic
def identity_disconnect(*, user: User) -> bool:
    """The person signs in without the provider from now on; False where they did already."""
    gone, _ = ExternalIdentity.objects.filter(user=user).delete()
    if gone:
        _record("identity.disconnect", user)
    return bool(gone)


def _is_address(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return len(text) <= ADDRESS_CHARS


def _invited(issuer: str, person: Person, invitation: str) -> User:
    if not invitation:
        raise NobodyHere
    try:
        user = invitation_accept_new(token=invitation, name=person.name, email=person.email, password=None)
    except (InvitationSpent, AddressTaken):
        raise NobodyHere from None
    ExternalIdentity.objects.create(user=user, issuer=issuer, subject=person.subject)
    _record("identity.connect", user, {"issuer": issuer})
    return user


def _connect(issuer: str, person: Person, user: User) -> None:
    """From here on the provider says who this is."""
    try:
        with transaction.atomic():
            ExternalIdentity.objects.create(user=user, issuer=issuer, subject=person.subject)
    except IntegrityError:
        raise AddressOfAnother from None
    # Whoever made the account may not have been the one whose address it is: what they know opens nothing.
    had_password = user.has_usable_password()
    user.set_unusable_password()
    user.save(update_fields=["password"])
    sessions_end(user=user)
    _record("identity.connect", user, {"issuer": issuer, "password_removed": had_password})


def _record(action: str, user: User, after: dict[str, object] | None = None) -> None:
    audit_record(
        action=action,
        object_type="person",
        object_id=user.pk,
        user=user,
        after={"person": user.email, **(after or {})},
    )
