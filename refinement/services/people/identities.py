"""Accounts for people who sign in with a provider: matched, connected or created by an invitation."""

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


class NoAccount(Exception):
    """The person has no account and no valid invitation."""


class EmailUnverified(Exception):
    """The provider has not verified the email address."""


class EmailConnected(Exception):
    """The account with this email address is connected to another person at the provider."""


Found = Literal["known", "connected", "invited"]


@transaction.atomic
def person_match(*, issuer: str, person: Person, invitation: str = "") -> tuple[User, Found]:
    """The account of a person, and how it was matched.

    Raises NoAccount, EmailUnverified, EmailConnected.
    """
    if not 0 < len(person.subject) <= SUBJECT_CHARS or "\x00" in person.subject:
        raise NoAccount
    known = ExternalIdentity.objects.select_related("user").filter(issuer=issuer, subject=person.subject)
    identity = known.first()
    if identity is not None:
        known.update(last_used_at=timezone.now())
        return identity.user, "known"
    if not person.email_verified or not _is_address(person.email):
        raise EmailUnverified
    user = User.objects.select_for_update().filter(email__iexact=person.email).first()
    if user is None:
        return _invited(issuer, person, invitation), "invited"
    # Two concurrent sign-ins of one person: the second one waited for the lock.
    if not known.filter(user=user).exists():
        _connect(issuer, person, user)
    return user, "connected"


@transaction.atomic
def identity_disconnect(*, user: User) -> bool:
    """Disconnect the account from the provider. Return False if it was not connected."""
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
        raise NoAccount
    try:
        user = invitation_accept_new(token=invitation, name=person.name, email=person.email, password=None)
    except (InvitationSpent, AddressTaken):
        raise NoAccount from None
    ExternalIdentity.objects.create(user=user, issuer=issuer, subject=person.subject)
    _record("identity.connect", user, {"issuer": issuer})
    return user


def _connect(issuer: str, person: Person, user: User) -> None:
    """Connect the account to the provider, and remove its password and sessions."""
    try:
        with transaction.atomic():
            ExternalIdentity.objects.create(user=user, issuer=issuer, subject=person.subject)
    except IntegrityError:
        raise EmailConnected from None
    # The account may have been created by someone who does not own the email address.
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
