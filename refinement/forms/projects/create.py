"""The form for a new project."""

from django import forms


class ProjectForm(forms.Form):
    name = forms.CharField(
        label="Name",
        max_length=120,
        help_text="The URL is made from the name and does not change.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
