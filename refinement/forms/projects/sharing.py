"""Forms of share links and of a project's settings."""

from django import forms

from refinement.services.runs.shares import LIFETIMES

NOTE_CHARS = 120
NAME_CHARS = 120


class ShareForm(forms.Form):
    """A new link to a run."""

    days = forms.TypedChoiceField(
        label="Works for",
        coerce=int,
        choices=[(str(days), f"{days} day{'' if days == 1 else 's'}") for days in LIFETIMES],
        initial="7",
    )
    show_prompts = forms.BooleanField(
        label="Show what was said to the models",
        required=False,
        help_text="Every prompt and reply, word by word. They hold your rubric's instructions.",
    )
    show_comments = forms.BooleanField(
        label="Show comments and people's scores",
        required=False,
        help_text="With the names of those who gave them. What people decided is shown in any case, unnamed.",
    )
    note = forms.CharField(
        label="Note",
        required=False,
        max_length=NOTE_CHARS,
        help_text="Who it is for; only your team sees it. At most 120 characters.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class ProjectSettingsForm(forms.Form):
    """What owners set for the whole project."""

    name = forms.CharField(
        label="Name",
        max_length=NAME_CHARS,
        help_text="At most 120 characters. The project's address stays as it is.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    blind_scores = forms.BooleanField(
        label="People score blind",
        required=False,
        help_text="Nobody sees the judge's or another person's scores before they have given their own.",
    )
    sharing = forms.BooleanField(
        label="Runs may be shared by link",
        required=False,
        help_text="Switched off, every share link of this project stops working at once.",
    )
    seen = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)
