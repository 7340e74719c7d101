"""The form of planted defects: good texts, what is changed in copies of them, and a pair of one's own."""

from collections.abc import Sequence
from typing import Any

from django import forms

from refinement.forms.measurements.base import MeasuringForm
from refinement.forms.measurements.retest import texts_in
from refinement.models import LabelSet, Measurement
from refinement.planting.kinds import Effect
from refinement.planting.table import EDITS
from refinement.selectors.trust.measurements.choosing import EARLIER, LABELS, PASTED, RUNS
from refinement.services.rubrics.bench import MAX_CANDIDATE_CHARS, MAX_TASK_CHARS
from refinement.services.trust.planting import MOST_TEXTS

SOURCES = {
    LABELS: "A label set",
    RUNS: "Rounds of runs",
    PASTED: "Paste texts",
    EARLIER: "An earlier measurement",
}
EFFECTS = {Effect.SPOILED: "Defects", Effect.HARMLESS: "Harmless edits", Effect.PADDED: "Padding"}
SPOILED, HARMLESS = "spoiled", "harmless"


def edit_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """The edits by what they do."""
    return [
        (words, [(edit.key, edit.name) for edit in EDITS.values() if edit.effect is effect])
        for effect, words in EFFECTS.items()
    ]


class PlantedForm(MeasuringForm):
    """Of alternative fields, only the chosen one is used."""

    conditional = ("label_set", "texts", "earlier", "own_text", "own_copy", "own_effect")

    source = forms.ChoiceField(label="Good texts", widget=forms.RadioSelect)
    label_set = forms.ChoiceField(
        label="Label set", required=False, help_text="The texts that people scored best."
    )
    texts = forms.CharField(
        label="Pasted texts",
        required=False,
        strip=False,
        max_length=MAX_CANDIDATE_CHARS,
        help_text="Separate texts with a line of three hyphens (---).",
        widget=forms.Textarea(attrs={"rows": 8}),
    )
    task = forms.CharField(
        label="Task",
        required=False,
        max_length=MAX_TASK_CHARS,
        help_text="What the writer was asked for; the judge reads it.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    earlier = forms.ChoiceField(
        label="Measurement", required=False, help_text="The same texts and copies, for this judge."
    )
    count = forms.IntegerField(
        label="Texts at most",
        min_value=1,
        max_value=MOST_TEXTS,
        initial=10,
        help_text="A kind of defect needs 10 copies for a verdict.",
    )
    edits = forms.MultipleChoiceField(
        label="What to change",
        required=False,
        choices=edit_choices,
        initial=list(EDITS),
        widget=forms.CheckboxSelectMultiple,
    )
    repeats = forms.IntegerField(
        label="Repeats",
        min_value=1,
        max_value=10,
        initial=1,
        help_text="More repeats show smaller drops; each costs as much as the first.",
    )
    own_text = forms.CharField(
        label="Your text",
        required=False,
        strip=False,
        max_length=MAX_CANDIDATE_CHARS,
        widget=forms.Textarea(attrs={"rows": 5}),
    )
    own_copy = forms.CharField(
        label="Your changed copy",
        required=False,
        strip=False,
        max_length=MAX_CANDIDATE_CHARS,
        widget=forms.Textarea(attrs={"rows": 5}),
    )
    own_effect = forms.ChoiceField(
        label="The copy is",
        choices=((SPOILED, "Spoiled"), (HARMLESS, "Harmless")),
        initial=SPOILED,
        required=False,
    )
    own_criterion = forms.ChoiceField(
        label="Criterion", required=False, help_text="Which score a spoiled copy should lower."
    )
    own_change = forms.CharField(
        label="What you changed", required=False, max_length=400, help_text="Shown on the judge's page."
    )

    def __init__(
        self,
        *args: Any,
        label_sets: Sequence[LabelSet],
        earlier: Sequence[Measurement],
        has_rounds: bool,
        criteria: Sequence[tuple[str, str]],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        there = {LABELS: bool(label_sets), RUNS: has_rounds, PASTED: True, EARLIER: bool(earlier)}
        offered = [(key, words) for key, words in SOURCES.items() if there[key]]
        self.choose("source", offered)
        self.fields["source"].initial = offered[0][0]
        self.choose("label_set", [("", "Choose one"), *((str(row.pk), row.name) for row in label_sets)])
        self.choose("earlier", [("", "Choose one"), *((str(row.pk), earlier_words(row)) for row in earlier)])
        self.choose("own_criterion", [("", "Not sure"), *criteria])
        self.label_sets = {str(row.pk): row for row in label_sets}
        self.measurements = {str(row.pk): row for row in earlier}

    @property
    def own_open(self) -> bool:
        names = ("own_text", "own_copy", "own_criterion", "own_change")
        return any(self[name].value() or name in self.errors for name in names)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        source = cleaned.get("source")
        own = self.clean_own(cleaned)
        named = {LABELS: "label_set", EARLIER: "earlier"}.get(source or "")
        if named and not cleaned.get(named):
            self.add_error(named, "Choose one.")
        if source != PASTED:
            self.errors.pop("texts", None)
        elif not own and not texts_in(cleaned.get("texts", "")):
            self.add_error("texts", "Paste good texts, or add a pair of your own.")
        if source != EARLIER and not own and not cleaned.get("edits"):
            self.add_error("edits", "Choose at least one change.")
        return cleaned

    def clean_own(self, cleaned: dict[str, Any]) -> bool:
        """Whether there is a pair of one's own; half a pair is an error."""
        text, copy = cleaned.get("own_text", "").strip(), cleaned.get("own_copy", "").strip()
        if bool(text) != bool(copy):
            self.add_error("own_copy" if text else "own_text", "Enter both texts, or neither.")
        elif text and text == copy:
            self.add_error("own_copy", "The copy is the same as the text.")
        return bool(text and copy)

    @property
    def label_set_chosen(self) -> LabelSet | None:
        return self.label_sets.get(self.cleaned_data.get("label_set", ""))

    @property
    def earlier_chosen(self) -> Measurement | None:
        return self.measurements.get(self.cleaned_data.get("earlier", ""))


def earlier_words(row: Measurement) -> str:
    judge = f"a board of {len(row.panel)}" if row.panel else row.model
    return f"{row.pk}: v{row.rubric_version.number} × {judge}"
