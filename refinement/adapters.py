"""Where this product's accounts differ from allauth's."""

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
REAUTHENTICATION_WORDS = {
    "reauthenticate": "Give your password",
    "mfa_reauthenticate": "Give a code of your authenticator app",
    "mfa_reauthenticate:webauthn": "Use a passkey",
}
FAILED_HERE = "login_failed_here"  # in ACCOUNT_RATE_LIMITS


def attempts_key(email: str, request: HttpRequest) -> str:
    return f"{email.lower()} {network_of(address_of(request))}"


def attempts_forget(request: HttpRequest, email: str) -> None:
    """Clears the count of wrong passwords for this account at this address."""
    ratelimit.clear(request, action=FAILED_HERE, key=attempts_key(email, request))


def on_password_reset(sender: Any, request: HttpRequest, user: Any, **kwargs: Any) -> None:
    """Receives allauth's signal: the new password can be used at once."""
    attempts_forget(request, user.email)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """No open sign-up; plain words; a changed password leads back to the account page."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "account_inactive": "This account is closed. Ask an administrator to open it again.",
        "email_password_mismatch": "This mail address and password do not belong together. Check both.",
        "enter_current_password": "This is not your current password.",
        "incorrect_password": "This is not your password.",
        "too_many_login_attempts": "Too many failed attempts. Wait five minutes, then try again.",
        "rate_limited": "Too many requests. Wait a minute, then try again.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        """The address that allauth's own limits count; the audit log names the same one."""
        address = address_of(request)
        if not address:
            raise PermissionDenied("The address of this request is unknown.")
        return address

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Refuses an attempt after too many wrong passwords.

        They count for the account at this address, which blocks nobody elsewhere. At addresses where the
        person has not signed in before, they also count for the address and for the account as a whole, so
        that many addresses together guess no faster. Attackers can use that up, but then the addresses where
        the person signed in before stay open.
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
            {**method, "description": REAUTHENTICATION_WORDS.get(method["id"], method["description"])}
            for method in methods
        ]


class TwoFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Keys are kept encrypted; what is wrong is said in this product's words."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": "This code is not right. Codes change every 30 seconds, and each works once.",
        "incorrect_passkey": "This passkey could not be checked. Start again.",
        "cannot_generate_recovery_codes": "Set up an authenticator app or a passkey first.",
    }

    def encrypt(self, text: str) -> str:
        return sealed(PURPOSE, text)

    def decrypt(self, encrypted_text: str) -> str:
        try:
            return unsealed(PURPOSE, encrypted_text)
        except Unreadable:
            # Encrypted with a key that is gone. A secret that nobody knows fits no code; an empty one would.
            return base64.b32encode(secrets.token_bytes(20)).decode()

    def generate_authenticator_name(self, user: Any, type: Any) -> str:  # noqa: A002  allauth's name
        from allauth.mfa.models import Authenticator

        return f"Passkey {Authenticator.objects.filter(user_id=user.pk, type=type).count() + 1}"
