"""Forms for a suite as a whole: its name and description."""

from django import forms

from refinement.interchange.suites.types import DESCRIPTION_CHARS, NAME_CHARS


class SuiteForm(forms.Form):
    """A name and a description."""

    name = forms.CharField(
        label="Name",
        max_length=NAME_CHARS,
        error_messages={"required": "Enter a name."},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    description = forms.CharField(
        label="Description",
        required=False,
        max_length=DESCRIPTION_CHARS,
        help_text="What these tasks have in common.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
