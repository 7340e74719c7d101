"""Where this product's accounts differ from allauth's."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest
from django.urls import reverse


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
