"""The launch form of experiments, besides its configurations."""

from collections.abc import Sequence
from typing import Any

from django import forms

from refinement.services.experiments.checking import MOST_REPEATS, NAME_CHARS

MOST_TOKENS = 10**15


class ExperimentForm(forms.Form):
    """Suite, name, repeats and budget."""

    use_required_attribute = False

    suite = forms.ChoiceField(label="Suite", error_messages={"required": "Choose a suite."})
    suite_version = forms.CharField(label="Version", required=False, widget=forms.Select, max_length=20)
    name = forms.CharField(
        label="Name",
        max_length=NAME_CHARS,
        error_messages={"required": "Enter a name: the question that it answers."},
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "Sources or more rounds?"}),
    )
    note = forms.CharField(
        label="Note", required=False, max_length=4_000, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    repeats = forms.IntegerField(
        label="Repeats",
        min_value=1,
        max_value=MOST_REPEATS,
        initial=2,
        help_text="Two or more show how much results vary by chance.",
    )
    token_budget = forms.IntegerField(
        label="Token budget",
        required=False,
        min_value=1,
        max_value=MOST_TOKENS,
        help_text="The experiment pauses when it is used up. Empty: no limit.",
        widget=forms.NumberInput(attrs={"step": "1"}),
    )

    def __init__(
        self,
        *args: Any,
        suites: Sequence[tuple[str, str]],
        versions: Sequence[tuple[str, str]],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})
        field: Any = self.fields["suite"]
        field.choices = list(suites)
        version: Any = self.fields["suite_version"]
        version.widget.choices = list(versions)
