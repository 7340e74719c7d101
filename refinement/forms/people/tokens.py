"""The form for an API token."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from refinement.models import MemberRole, Membership
from refinement.selectors.projects.lists import lower_role
from refinement.services.people.tokens import LIFETIMES, NAME_CHARS

ROLE_HELP = "The most the token may do. It can never do more than you."
NEVER = ("0", "Until revoked")


class TokenForm(forms.Form):
    """Name, role and lifetime of a token."""

    name = forms.CharField(
        label="Name",
        max_length=NAME_CHARS,
        help_text="Where it is used, such as “nightly evals”. Shown in the audit log.",
        error_messages={"required": "Enter a name that says where the token is used."},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    role = forms.ChoiceField(label="Role", help_text=ROLE_HELP)
    days = forms.TypedChoiceField(
        label="Expires after",
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
        """Adds the service's errors to their fields."""
        for name, complaints in error.message_dict.items():
            self.add_error(name if name in self.fields else None, complaints)
