"""The form of a webhook."""

from django import forms

from refinement.models import WebhookEvent
from refinement.services.webhooks.hooks import NOTE_CHARS, HookValues
from refinement.webhooks.addresses import MOST_CHARS


class WebhookForm(forms.Form):
    """Where to send what."""

    address = forms.CharField(
        label="Address",
        max_length=MOST_CHARS,
        help_text="Such as https://example.org/wiggum. Redirects are not followed.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "inputmode": "url", "spellcheck": "false"}),
    )
    events = forms.MultipleChoiceField(
        label="Told when",
        choices=WebhookEvent.choices,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one event."},
    )
    note = forms.CharField(
        label="Note",
        required=False,
        max_length=NOTE_CHARS,
        help_text="What it is for. At most 120 characters.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    active = forms.BooleanField(
        label="Active",
        required=False,
        initial=True,
        help_text="Switched off, it is sent nothing, and what waits is given up.",
    )
    version = forms.IntegerField(widget=forms.HiddenInput, required=False, min_value=1, max_value=2**31 - 1)

    @property
    def values(self) -> HookValues:
        """What was chosen, as the service takes it."""
        kept = self.cleaned_data
        return HookValues(kept["address"], kept["events"], kept["note"], kept["active"])
