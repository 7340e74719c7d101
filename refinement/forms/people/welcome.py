"""Sign-up forms: for the first run and for invitations."""

from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password

from refinement.forms.people.accounts import NEW_PASSWORD_HELP
from refinement.models import User


class NewPersonForm(forms.Form):
    """A new user's account."""

    name = forms.CharField(
        label="Your name", max_length=120, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    email = forms.EmailField(
        label="Email",
        max_length=254,
        help_text="You sign in with this address.",
        widget=forms.EmailInput(attrs={"autocomplete": "username"}),
    )
    password = forms.CharField(
        label="Password",
        strip=False,
        max_length=200,
        help_text=NEW_PASSWORD_HELP,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        password = cleaned.get("password")
        if password is not None:
            person = User(email=cleaned.get("email", ""), name=cleaned.get("name", ""))
            try:
                validate_password(password, person)
            except forms.ValidationError as error:
                self.add_error("password", error)
        return cleaned


class WelcomeForm(NewPersonForm):
    """The first user and their project."""

    project_name = forms.CharField(
        label="Project name",
        max_length=120,
        help_text="For a team, such as Docs team. You can add more projects later.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
