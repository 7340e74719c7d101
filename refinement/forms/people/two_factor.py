"""Forms of two-factor sign-in and passkeys: allauth's in this product's words."""

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

CODE_HELP = "The six digits that your authenticator app shows, or one of your recovery codes."
NAME_CHARS = 60
# What reading a credential ends in that no browser made: all of it means that it proves nothing.
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
    """Limits wrong codes for one person, more tightly than wrong passwords: codes are only six digits."""

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
        reword(self.fields["code"], "Code", "The six digits that the app shows now.")
        self.fields["code"].widget.attrs.update(inputmode="numeric")


class _Credential:
    """A credential that cannot be read is a wrong one, never an error of ours."""

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
    """A passkey always proves the person, not the device alone: it signs in by itself."""

    name = forms.CharField(
        label="Name",
        required=False,
        max_length=NAME_CHARS,
        help_text="To tell it from others, such as the device it is on. At most 60 characters.",
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
