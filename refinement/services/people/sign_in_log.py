"""Records sign-ins and changes of sign-in methods in the audit log, from signals of Django and allauth."""

from typing import Any

from allauth.account import signals as account_signals
from allauth.mfa import signals as mfa_signals
from django.contrib.auth.signals import user_logged_out, user_login_failed

from refinement.models import User
from refinement.services.audit import audit_record

ADDRESS_CHARS = 254
MEANS = {"totp": "authenticator app", "recovery_codes": "recovery codes", "webauthn": "passkey"}
METHODS = {"password": "password", "mfa": "two-factor", "openid": "provider"}


def connect() -> None:
    """Connect the receivers. Called once, when Django is ready."""
    receivers = (
        (account_signals.user_logged_in, on_signed_in),
        (user_logged_out, on_signed_out),
        (user_login_failed, on_refused),
        (account_signals.password_changed, on_password),
        (account_signals.password_set, on_password),
        (account_signals.password_reset, on_password),
        (mfa_signals.authenticator_added, on_means_added),
        (mfa_signals.authenticator_removed, on_means_removed),
        (mfa_signals.authenticator_reset, on_means_renewed),
        (mfa_signals.authentication_failed, on_code_refused),
    )
    for signal, receiver in receivers:
        signal.connect(receiver, dispatch_uid=f"refinement.{receiver.__name__}")


def on_signed_in(request: Any, user: User, **kwargs: Any) -> None:
    _record("session.start", user, {"by": _methods(request)})


def on_signed_out(request: Any, user: User | None, **kwargs: Any) -> None:
    if isinstance(user, User):
        _record("session.end", user)


def on_refused(credentials: dict[str, Any], **kwargs: Any) -> None:
    """A wrong password. The entry has no user, since the person is not authenticated."""
    email = str(credentials.get("email") or credentials.get("username") or "")
    email = email.replace("\x00", "")[:ADDRESS_CHARS]
    audit_record(action="session.refuse", object_type="session", object_id="", after={"person": email})


def on_password(user: User, **kwargs: Any) -> None:
    _record("person.password", user)


def on_means_added(user: User, authenticator: Any, **kwargs: Any) -> None:
    _record("two_factor.add", user, {"means": factor_label(authenticator)})


def on_means_removed(user: User, authenticator: Any, **kwargs: Any) -> None:
    _record("two_factor.remove", user, {"means": factor_label(authenticator)})


def on_means_renewed(user: User, authenticator: Any, **kwargs: Any) -> None:
    _record("two_factor.renew", user, {"means": factor_label(authenticator)})


def on_code_refused(user: User, **kwargs: Any) -> None:
    """A wrong code after a correct password."""
    audit_record(
        action="two_factor.refuse", object_type="person", object_id=user.pk, after={"person": user.email}
    )


def factor_label(authenticator: Any) -> str:
    """The second factor's type and name, such as: passkey (Ada's phone)."""
    kind = MEANS.get(authenticator.type, authenticator.type)
    name = authenticator.data.get("name", "") if authenticator.type == "webauthn" else ""
    return f"{kind} ({name})" if name else kind


def _methods(request: Any) -> str:
    records = request.session.get("account_authentication_methods") or [] if request else []
    methods = dict.fromkeys(METHODS.get(str(entry.get("method")), "") for entry in records)
    return ", ".join(method for method in methods if method)


def _record(action: str, user: User, after: dict[str, object] | None = None) -> None:
    audit_record(
        action=action,
        object_type="person",
        object_id=user.pk,
        user=user,
        after={"person": user.email, **(after or {})},
    )
