"""Account forms: our own, and allauth's with our labels."""

from typing import Any
from zoneinfo import available_timezones

from allauth.account import forms as allauth_forms
from django import forms

NEW_PASSWORD_HELP = "At least 10 characters. A few unrelated words are easy to remember."


def zone_choices() -> list[tuple[str, str]]:
    """All time zones of a place, and UTC; the empty one is the browser's."""
    places = sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
    names = [(name, name.replace("_", " ")) for name in ("UTC", *places)]
    return [("", "Same as browser"), *names]


class ProfileForm(forms.Form):
    """The name that others see, and how times are shown."""

    name = forms.CharField(
        label="Name",
        max_length=120,
        help_text="Shown to others next to your activity.",
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    time_zone = forms.ChoiceField(
        label="Time zone",
        required=False,
        choices=zone_choices,
        help_text="For times on all pages.",
    )


def reword(field: forms.Field, label: str, help_text: str = "") -> None:
    """Sets label and help text, and removes the placeholder."""
    field.label = label
    field.help_text = help_text
    field.widget.attrs.pop("placeholder", None)


class LoginForm(allauth_forms.LoginForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        reword(self.fields["login"], "Email")
        reword(self.fields["password"], "Password")


class ResetPasswordForm(allauth_forms.ResetPasswordForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        reword(self.fields["email"], "Email")


class ResetPasswordKeyForm(allauth_forms.ResetPasswordKeyForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        reword(self.fields["password1"], "New password", NEW_PASSWORD_HELP)
        reword(self.fields["password2"], "Confirm new password")


class ChangePasswordForm(allauth_forms.ChangePasswordForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        reword(self.fields["oldpassword"], "Current password")
        reword(self.fields["password1"], "New password", NEW_PASSWORD_HELP)
        reword(self.fields["password2"], "Confirm new password")


class SetPasswordForm(allauth_forms.SetPasswordForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        reword(self.fields["password1"], "New password", NEW_PASSWORD_HELP)
        reword(self.fields["password2"], "Confirm new password")


class ReauthenticateForm(allauth_forms.ReauthenticateForm):  # type: ignore[misc]
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        reword(self.fields["password"], "Password")
