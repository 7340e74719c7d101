"""Audit entries for second factors that allauth has no signal for."""

from refinement.models import User
from refinement.services.audit import audit_record


def passkey_rename_record(*, user: User, before: str, after: str) -> None:
    audit_record(
        action="two_factor.rename",
        object_type="person",
        object_id=user.pk,
        user=user,
        before={"person": user.email, "name": before},
        after={"person": user.email, "name": after},
    )
