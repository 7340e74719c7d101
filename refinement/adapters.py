"""Adapters that customize allauth."""

import base64
import secrets
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import ratelimit
from allauth.mfa.adapter import DefaultMFAAdapter
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.urls import reverse

from refinement.access.client_address import address_of, network_of
from refinement.selectors.people.members import has_signed_in_from
from refinement.vault import Unreadable, sealed, unsealed

PURPOSE = "two-factor"
REAUTHENTICATION_LABELS = {
    "reauthenticate": "Enter your password",
    "mfa_reauthenticate": "Enter a code from your authenticator app",
    "mfa_reauthenticate:webauthn": "Use a passkey",
}
FAILED_HERE = "login_failed_here"  # in ACCOUNT_RATE_LIMITS


def attempts_key(email: str, request: HttpRequest) -> str:
    return f"{email.lower()} {network_of(address_of(request))}"


def attempts_forget(request: HttpRequest, email: str) -> None:
    """Clear the count of wrong passwords for this account from this address."""
    ratelimit.clear(request, action=FAILED_HERE, key=attempts_key(email, request))


def on_password_reset(sender: Any, request: HttpRequest, user: Any, **kwargs: Any) -> None:
    """Handles allauth's signal, so that the new password works at once."""
    attempts_forget(request, user.email)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """No public sign-up, own error messages and rate limits, and a redirect after a password change."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "account_inactive": "This account is deactivated. Ask an administrator to reactivate it.",
        "email_password_mismatch": "The email or password is incorrect.",
        "enter_current_password": "The current password is incorrect.",
        "incorrect_password": "The password is incorrect.",
        "too_many_login_attempts": "Too many failed attempts. Wait five minutes, then try again.",
        "rate_limited": "Too many requests. Wait a minute, then try again.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        """The client address for allauth's rate limits, the same as in the audit log."""
        address = address_of(request)
        if not address:
            raise PermissionDenied("The client address of this request is unknown.")
        return address

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Refuse an attempt after too many wrong passwords.

        Wrong passwords count for the account at this address, which blocks nobody elsewhere. At addresses
        where the person has not signed in before, they also count for the address and for the whole account,
        so that an attacker with many addresses cannot guess faster. Attackers can use up that limit, but the
        person can still sign in from known addresses.
        """
        email = credentials.get("email", "")
        here = {"action": FAILED_HERE, "key": attempts_key(email, request)}
        if not ratelimit.consume(request, **here):
            raise self.validation_error("too_many_login_attempts")
        if not has_signed_in_from(email, network_of(address_of(request))):
            super().pre_authenticate(request, **credentials)

    def authenticate(self, request: HttpRequest, **credentials: Any) -> AbstractBaseUser | None:
        user: AbstractBaseUser | None = super().authenticate(request, **credentials)
        if user:
            attempts_forget(request, credentials.get("email", ""))
        return user

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        return [
            {**method, "description": REAUTHENTICATION_LABELS.get(method["id"], method["description"])}
            for method in methods
        ]


class TwoFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Encrypts stored secrets, with own error messages."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": "The code is incorrect. Codes change every 30 seconds, and each works once.",
        "incorrect_passkey": "The passkey could not be verified. Try again.",
        "cannot_generate_recovery_codes": "Set up an authenticator app or a passkey first.",
    }

    def encrypt(self, text: str) -> str:
        return sealed(PURPOSE, text)

    def decrypt(self, encrypted_text: str) -> str:
        try:
            return unsealed(PURPOSE, encrypted_text)
        except Unreadable:
            # Encrypted with an unknown key. No code matches a random secret; an empty one would match.
            return base64.b32encode(secrets.token_bytes(20)).decode()

    def generate_authenticator_name(self, user: Any, type: Any) -> str:  # noqa: A002  allauth's name
        from allauth.mfa.models import Authenticator

        return f"Passkey {Authenticator.objects.filter(user_id=user.pk, type=type).count() + 1}"
