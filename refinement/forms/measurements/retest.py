"""The form of a retest: texts that a judge scores several times."""

import re
from collections.abc import Sequence
from typing import Any

from django import forms

from refinement.forms.measurements.base import MeasuringForm
from refinement.models import LabelSet
from refinement.selectors.trust.measurements.choosing import LABELS, PASTED, RUNS
from refinement.services.rubrics.bench import MAX_CANDIDATE_CHARS, MAX_TASK_CHARS

SOURCES = {LABELS: "A label set", RUNS: "Rounds of runs", PASTED: "Paste texts"}
BETWEEN = re.compile(r"^---+[ \t]*$", re.MULTILINE)
FEWEST_REPEATS = 2


class RetestForm(MeasuringForm):
    """Of alternative fields, only the chosen one is used."""

    conditional = ("label_set", "texts")

    source = forms.ChoiceField(label="Texts", widget=forms.RadioSelect)
    label_set = forms.ChoiceField(label="Label set", required=False)
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
    count = forms.IntegerField(
        label="Texts at most",
        min_value=1,
        max_value=2_000,
        initial=20,
        help_text="20 texts give a usable figure. Of runs, they are spread from low to high scores.",
    )
    repeats = forms.IntegerField(
        label="Repeats",
        min_value=FEWEST_REPEATS,
        max_value=10,
        initial=3,
        help_text=f"{FEWEST_REPEATS} to 10 for each text.",
    )

    def __init__(self, *args: Any, label_sets: Sequence[LabelSet], has_rounds: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        there = {LABELS: bool(label_sets), RUNS: has_rounds, PASTED: True}
        offered = [(key, words) for key, words in SOURCES.items() if there[key]]
        self.choose("source", offered)
        self.fields["source"].initial = offered[0][0]
        self.choose("label_set", [("", "Choose one"), *((str(row.pk), row.name) for row in label_sets)])
        self.rows = {str(row.pk): row for row in label_sets}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        source = cleaned.get("source")
        if source == LABELS and not cleaned.get("label_set"):
            self.add_error("label_set", "Choose one.")
        if source != PASTED:
            self.errors.pop("texts", None)
        elif not texts_in(cleaned.get("texts", "")):
            self.add_error("texts", "Paste the texts to judge.")
        return cleaned

    @property
    def label_set_chosen(self) -> LabelSet | None:
        return self.rows.get(self.cleaned_data.get("label_set", ""))


def texts_in(pasted: str) -> list[str]:
    """The texts between lines of hyphens, without empty ones."""
    parts = BETWEEN.split(pasted.replace("\r\n", "\n"))
    return [part.strip("\n") for part in parts if part.strip()]
