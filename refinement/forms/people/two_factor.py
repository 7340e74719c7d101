"""Forms of two-factor sign-in and passkeys: allauth's with our labels."""

import struct
from typing import Any

from allauth.account.adapter import get_adapter as account_adapter
from allauth.core import context, ratelimit
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base import forms as base_forms
from allauth.mfa.totp import forms as totp_forms
from allauth.mfa.webauthn import forms as webauthn_forms
from cryptography.exceptions import InvalidSignature
from django import forms

from refinement.forms.people.accounts import reword

CODE_HELP = "The six digits in your authenticator app, or a recovery code."
NAME_CHARS = 60
# Exceptions that parsing a forged credential can raise; all mean that it is not valid.
UNREADABLE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    InvalidSignature,
    LookupError,
    NotImplementedError,
    TypeError,
    ValueError,
    struct.error,
)


class _GuessLimit:
    """Rate-limits wrong codes per user, more tightly than passwords: codes have only six digits."""

    def clean_code(self) -> Any:
        limit = {"action": "code_failed", "user": self.user}  # type: ignore[attr-defined]
        if not ratelimit.consume(context.request, **limit):
            raise account_adapter().validation_error("too_many_login_attempts")
        code = super().clean_code()  # type: ignore[misc]
        ratelimit.clear(context.request, **limit)
        return code


class AuthenticateForm(_GuessLimit, base_forms.AuthenticateForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        reword(self.fields["code"], "Code", CODE_HELP)
        self.fields["code"].widget.attrs.update(autofocus=True, inputmode="numeric")


class ReauthenticateForm(_GuessLimit, base_forms.ReauthenticateForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        reword(self.fields["code"], "Code", CODE_HELP)


class ActivateTOTPForm(totp_forms.ActivateTOTPForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        reword(self.fields["code"], "Code", "The six digits in your app.")
        self.fields["code"].widget.attrs.update(inputmode="numeric")


class _Credential:
    """Treats a credential that cannot be parsed as a wrong one."""

    def clean_credential(self) -> Any:
        try:
            return super().clean_credential()  # type: ignore[misc]
        except UNREADABLE:
            raise get_adapter().validation_error("incorrect_passkey") from None


class AuthenticateWebAuthnForm(_Credential, webauthn_forms.AuthenticateWebAuthnForm):  # type: ignore[misc]
    pass


class LoginWebAuthnForm(_Credential, webauthn_forms.LoginWebAuthnForm):  # type: ignore[misc]
    pass


class ReauthenticateWebAuthnForm(_Credential, webauthn_forms.ReauthenticateWebAuthnForm):  # type: ignore[misc]
    pass


class AddPasskeyForm(webauthn_forms.AddWebAuthnForm):  # type: ignore[misc]
    """Passkeys require user verification, so they can sign in without a password."""

    name = forms.CharField(
        label="Name",
        required=False,
        max_length=NAME_CHARS,
        help_text="For example the device it is on. At most 60 characters.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["passwordless"]

    def clean(self) -> Any:
        self.cleaned_data["passwordless"] = True
        try:
            return super().clean()
        except UNREADABLE:
            raise get_adapter().validation_error("incorrect_passkey") from None


class RenamePasskeyForm(webauthn_forms.EditWebAuthnForm):  # type: ignore[misc]
    name = forms.CharField(
        label="Name",
        max_length=NAME_CHARS,
        help_text="At most 60 characters.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
