"""Forms about projects."""

from django import forms


class ProjectForm(forms.Form):
    """A new project."""

    name = forms.CharField(
        label="Name",
        max_length=120,
        help_text="Its address is made from the name and stays the same.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
