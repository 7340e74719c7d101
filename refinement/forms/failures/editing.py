"""Forms for failure categories."""

from django import forms

from refinement.models.failures.categories import NAME_CHARS, NOTE_CHARS


class CategoryForm(forms.Form):
    """A category's name and note."""

    edition = forms.IntegerField(min_value=1, max_value=2**31, widget=forms.HiddenInput)
    name = forms.CharField(
        label="Name",
        required=False,
        max_length=NAME_CHARS,
        help_text="Leave it empty for the automatic name.",
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    note = forms.CharField(
        label="What to do about it",
        required=False,
        max_length=NOTE_CHARS,
        widget=forms.Textarea({"rows": 3}),
    )


class NamingForm(forms.Form):
    """The model that names categories."""

    model = forms.CharField(
        label="Model",
        max_length=620,
        help_text="As ENDPOINT/MODEL, such as ollama/qwen3:14b.",
        error_messages={"required": "Choose a model."},
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
    )
