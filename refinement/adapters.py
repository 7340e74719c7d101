"""Where this product's accounts differ from allauth's."""

import base64
import secrets
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from django.http import HttpRequest
from django.urls import reverse

from refinement.vault import Unreadable, sealed, unsealed

PURPOSE = "two-factor"
REAUTHENTICATION_WORDS = {
    "reauthenticate": "Give your password",
    "mfa_reauthenticate": "Give a code of your authenticator app",
    "mfa_reauthenticate:webauthn": "Use a passkey",
}


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
            # Kept under another SECRET_KEY. A key that nobody knows fits no code; an empty one would.
            return base64.b32encode(secrets.token_bytes(20)).decode()

    def generate_authenticator_name(self, user: Any, type: Any) -> str:  # noqa: A002  allauth's name
        from allauth.mfa.models import Authenticator

        return f"Passkey {Authenticator.objects.filter(user_id=user.pk, type=type).count() + 1}"
