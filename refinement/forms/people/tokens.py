"""The form that makes an API token."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from refinement.models import MemberRole, Membership
from refinement.selectors.projects.lists import lower_role
from refinement.services.people.tokens import LIFETIMES, NAME_CHARS

ROLE_HELP = "It does no more than this, and never more than you may do yourself."
NEVER = ("0", "Until it is revoked")


class TokenForm(forms.Form):
    """A name, the most it may do, and how long it works."""

    name = forms.CharField(
        label="Name",
        max_length=NAME_CHARS,
        help_text="Where it is used, such as “nightly evals”. The audit log shows it.",
        error_messages={"required": "Give the token a name that says where it is used."},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    role = forms.ChoiceField(label="Role", help_text=ROLE_HELP)
    days = forms.TypedChoiceField(
        label="Works for",
        coerce=int,
        choices=[*((str(days), f"{days} days") for days in LIFETIMES), NEVER],
        initial="90",
    )

    def __init__(self, *args: Any, membership: Membership, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["role"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [
            (role.value, role.label) for role in MemberRole if lower_role(role, membership.role) == role
        ]
        field.initial = field.choices[0][0]

    def take_over(self, error: ValidationError) -> None:
        """Puts the service's complaints beside their fields."""
        for name, complaints in error.message_dict.items():
            self.add_error(name if name in self.fields else None, complaints)
