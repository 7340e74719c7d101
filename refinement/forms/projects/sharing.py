"""Forms for share links and project settings."""

from decimal import Decimal

from django import forms

from refinement.services.runs.shares import LIFETIMES

NOTE_CHARS = 120
NAME_CHARS = 120


class ShareForm(forms.Form):
    """A new share link."""

    days = forms.TypedChoiceField(
        label="Expires after",
        coerce=int,
        choices=[(str(days), f"{days} day{'' if days == 1 else 's'}") for days in LIFETIMES],
        initial="7",
    )
    show_prompts = forms.BooleanField(
        label="Show model calls",
        required=False,
        help_text="All prompts and replies. They include your rubric's instructions.",
    )
    show_comments = forms.BooleanField(
        label="Show comments and people’s scores",
        required=False,
        help_text="With their authors' names. Decisions are always shown, without names.",
    )
    note = forms.CharField(
        label="Note",
        required=False,
        max_length=NOTE_CHARS,
        help_text="Who the link is for. Visible to your team only. At most 120 characters.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class ProjectSettingsForm(forms.Form):
    """Settings of a project, for owners."""

    name = forms.CharField(
        label="Name",
        max_length=NAME_CHARS,
        help_text="At most 120 characters. The project's URL does not change.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    blind_scores = forms.BooleanField(
        label="Blind scoring",
        required=False,
        help_text="Members see the judge's and other people's scores only after scoring themselves.",
    )
    sharing = forms.BooleanField(
        label="Allow share links",
        required=False,
        help_text="If disabled, all share links of this project stop working immediately.",
    )
    monthly_cost = forms.DecimalField(
        label="Monthly budget",
        required=False,
        min_value=Decimal("0.01"),
        max_digits=12,
        decimal_places=2,
        help_text="In the instance's currency. When it is used up, no runs can be launched. Empty: no limit.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "inputmode": "decimal"}),
    )
    monthly_tokens = forms.IntegerField(
        label="Monthly tokens",
        required=False,
        min_value=1,
        max_value=10**15,
        help_text="The same in tokens. Empty: no limit.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "inputmode": "numeric"}),
    )
    gate_labels = forms.IntegerField(
        label="Texts labelled",
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text="How many texts people and the judge must both have scored, such as 100. Empty: no rule.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "inputmode": "numeric"}),
    )
    gate_kappa = forms.DecimalField(
        label="Agreement (κ)",
        required=False,
        min_value=Decimal("-1"),
        max_value=Decimal(1),
        max_digits=4,
        decimal_places=3,
        help_text="Minimum agreement of the judge with people. Empty: no rule.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "inputmode": "decimal"}),
    )
    gate_like_people = forms.BooleanField(
        label="Not worse than people",
        required=False,
        help_text="The judge must be shown to agree with people as well as they agree with each other.",
    )
    seen = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)
