"""The webhook form."""

from django import forms

from refinement.models import WebhookEvent, WebhookFormat
from refinement.services.webhooks.hooks import NOTE_CHARS, HookValues
from refinement.webhooks.addresses import MOST_CHARS


class WebhookForm(forms.Form):
    """A webhook's URL, events and state."""

    address = forms.CharField(
        label="URL",
        max_length=MOST_CHARS,
        help_text="Such as https://example.org/wiggum. Redirects are not followed.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "inputmode": "url", "spellcheck": "false"}),
    )
    format = forms.ChoiceField(
        label="Format",
        choices=WebhookFormat.choices,
        initial=WebhookFormat.WIGGUM,
        help_text="Slack, Teams and Discord get one short message, at the URL of an incoming webhook.",
    )
    events = forms.MultipleChoiceField(
        label="Events",
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
        help_text="If disabled, nothing is sent, and pending deliveries are discarded.",
    )
    version = forms.IntegerField(widget=forms.HiddenInput, required=False, min_value=1, max_value=2**31 - 1)

    @property
    def values(self) -> HookValues:
        """The values for the service."""
        kept = self.cleaned_data
        return HookValues(kept["address"], kept["events"], kept["note"], kept["active"], kept["format"])
