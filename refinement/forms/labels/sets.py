"""Forms for a label set: a new one, its settings, and more texts."""

from collections.abc import Sequence
from typing import Any

from django import forms

from refinement.interchange.labels.types import NAME_CHARS, TASK_TYPE_CHARS
from refinement.models import RubricVersion
from refinement.services.trust.label_items import MOST_AT_ONCE
from refinement.services.trust.labels import MOST_RATERS_WANTED, NOTE_CHARS

USUAL_ROUNDS = 50


class SettingsForm(forms.Form):
    """Name, raters for each text, and a note for raters."""

    name = forms.CharField(
        label="Name",
        max_length=NAME_CHARS,
        error_messages={"required": "Enter a name."},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    raters_wanted = forms.IntegerField(
        label="Raters per text",
        min_value=1,
        max_value=MOST_RATERS_WANTED,
        initial=2,
        help_text="Two or more show how well people agree.",
    )
    note = forms.CharField(
        label="Instructions",
        required=False,
        max_length=NOTE_CHARS,
        help_text="Raters see this next to each text.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class TextsForm(forms.Form):
    """Texts for a set: rounds of runs, pasted texts, or both."""

    rounds = forms.IntegerField(
        label="Rounds from runs",
        required=False,
        min_value=0,
        max_value=MOST_AT_ONCE,
        help_text="How many to take: equal shares of low, middle and high scores, from all task types.",
    )
    task_type = forms.CharField(
        label="Only task type",
        required=False,
        max_length=TASK_TYPE_CHARS,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    texts = forms.CharField(
        label="Or paste texts",
        required=False,
        strip=False,
        help_text="Separate texts with a line of three dashes: ---",
        widget=forms.Textarea(attrs={"rows": 6}),
    )

    def clean_rounds(self) -> int:
        return self.cleaned_data["rounds"] or 0


class NewSetForm(SettingsForm, TextsForm):
    """A new set with its rubric and first texts."""

    rubric = forms.ChoiceField(
        label="Rubric",
        help_text="Texts are scored on its criteria and scale.",
        error_messages={"required": "Choose a rubric."},
    )
    field_order = ("name", "rubric", "raters_wanted", "rounds", "task_type", "texts", "note")

    def __init__(self, versions: Sequence[RubricVersion], *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.versions = {version.rubric.slug: version for version in versions}
        field = self.fields["rubric"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(slug, version.name) for slug, version in self.versions.items()]

    @property
    def version(self) -> RubricVersion:
        return self.versions[self.cleaned_data["rubric"]]
