"""What changes second factors beside allauth itself."""

from refinement.models import User
from refinement.services.audit import audit_record


def passkey_rename_record(*, user: User, before: str, after: str) -> None:
    """Keeps that a passkey has another name."""
    audit_record(
        action="two_factor.rename",
        object_type="person",
        object_id=user.pk,
        user=user,
        before={"person": user.email, "name": before},
        after={"person": user.email, "name": after},
    )
