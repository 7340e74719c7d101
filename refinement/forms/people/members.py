"""Forms for invitations, joining, roles, and the audit log's filters."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.http import urlencode

from refinement.models import MemberRole
from refinement.selectors.people.audit import AuditFilters, AuditOptions

LIFETIMES = [("1", "1 day"), ("7", "7 days"), ("30", "30 days")]
NO_DATE = {"invalid": "Enter a date such as 2026-03-31."}
NUMBER_CHARS = 18  # the largest id has more digits


class InvitationForm(forms.Form):
    """A new invitation."""

    role = forms.ChoiceField(label="Role", choices=MemberRole.choices, initial=MemberRole.EDITOR)
    days = forms.ChoiceField(label="Expires after", choices=LIFETIMES, initial="7")
    email = forms.EmailField(
        label="Email",
        required=False,
        max_length=254,
        help_text="Sends the link. Leave empty to share it yourself.",
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )

    note = forms.CharField(
        label="Note",
        required=False,
        max_length=120,
        help_text="Who it is for, such as “Mo from support”. Only owners see it.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, can_mail: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not can_mail:
            del self.fields["email"]


class RoleForm(forms.Form):
    """A member's new role."""

    role = forms.ChoiceField(choices=MemberRole.choices)


def _chosen(label: str) -> forms.CharField:
    return forms.CharField(label=label, required=False, max_length=60, widget=forms.Select)


def _day(label: str) -> forms.DateField:
    control = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    return forms.DateField(
        label=label, required=False, input_formats=["%Y-%m-%d"], error_messages=NO_DATE, widget=control
    )


class AuditFilterForm(forms.Form):
    """All filters are optional. Invalid values are reported at their field and ignored."""

    person = _chosen("Person")
    action = _chosen("Action")
    object_type = _chosen("Type")
    object_id = forms.CharField(
        label="ID",
        required=False,
        max_length=40,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    project = _chosen("Project")
    since = _day("Since")
    until = _day("Until")

    def __init__(
        self, data: QueryDict, options: AuditOptions, projects: list[tuple[str, str]] | None = None
    ) -> None:
        super().__init__({name: data.get(name, "") for name in self.base_fields}, auto_id="filter-%s")
        offered = {
            "person": options.people,
            "action": options.actions,
            "object_type": options.object_types,
            "project": projects or [],
        }
        for name, choices in offered.items():
            self._offer(name, choices)
        if projects is None:
            del self.fields["project"]
        self.is_valid()

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        chosen = self.data[name]
        missing = [(chosen, chosen)] if chosen and chosen not in dict(choices) else []
        widget = self.fields[name].widget
        assert isinstance(widget, forms.Select)
        widget.choices = [("", "Any"), *choices, *missing]

    def clean_person(self) -> str:
        person = str(self.cleaned_data["person"])
        if person in ("", "none") or (person.isascii() and person.isdigit() and len(person) <= NUMBER_CHARS):
            return person
        raise forms.ValidationError("Choose a user from the list.")

    def clean(self) -> dict[str, Any]:
        since, until = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if since and until and since > until:
            self.add_error("until", "The start must be before the end.")
        return self.cleaned_data

    @property
    def filters(self) -> AuditFilters:
        """The valid filters."""
        return AuditFilters(**{name: value for name, value in self.cleaned_data.items() if value})

    def query(self, **more: object) -> str:
        """The valid filters as a query string, in a fixed order."""
        kept = {name: self.data[name] for name in self.fields if self.cleaned_data.get(name)}
        return urlencode({**kept, **more})
