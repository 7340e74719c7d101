"""The form that says which suite runs are added to."""

from collections.abc import Sequence
from typing import Any

from django import forms

from refinement.interchange.suites.types import NAME_CHARS
from refinement.models import Suite

NEW_SUITE = "new"  # no suite has this slug


class CollectForm(forms.Form):
    """A suite of the project, or a name for a new one."""

    suite = forms.ChoiceField(
        label="Suite",
        error_messages={"invalid_choice": "This suite was archived in the meantime. Choose another."},
    )
    name = forms.CharField(
        label="Name of the new suite",
        required=False,
        max_length=NAME_CHARS,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, suites: Sequence[Suite], *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.suites = {suite.slug: suite for suite in suites}
        field = self.fields["suite"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [
            *((slug, suite.name) for slug, suite in self.suites.items()),
            (NEW_SUITE, "New suite…"),
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("suite") == NEW_SUITE and not cleaned.get("name", "").strip():
            self.add_error("name", "Enter a name for the new suite, or choose one.")
        return cleaned

    def chosen(self) -> Suite | None:
        """The chosen suite; None for a new one."""
        return self.suites.get(self.cleaned_data["suite"])
