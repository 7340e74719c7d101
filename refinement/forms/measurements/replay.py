"""The form of a replay: which stored rounds, judged by what."""

import json
from collections.abc import Sequence
from typing import Any

from django import forms

from refinement.engine.codec import BadRubric, rubric_from_json
from refinement.forms.measurements.base import MeasuringForm
from refinement.models import Experiment, LabelSet, Suite
from refinement.selectors.trust.measurements.choosing import (
    EXPERIMENT,
    LABELS,
    NEAR,
    NEWEST,
    RUNS,
    SUITE,
)

SOURCES = {RUNS: "Newest runs", SUITE: "A suite's runs", EXPERIMENT: "An experiment", LABELS: "A label set"}
PICKS = ((NEAR, "Near the pass mark first"), (NEWEST, "Newest first"))
MOST_ROUNDS = 5_000
MOST_DRAFT_CHARS = 2_000_000


class ReplayForm(MeasuringForm):
    """Of alternative fields, only the chosen one is used. `draft` is a rubric that was not saved."""

    conditional = ("suite", "experiment", "label_set")

    source = forms.ChoiceField(label="Rounds of", widget=forms.RadioSelect, initial=RUNS)
    runs = forms.IntegerField(label="Runs", min_value=1, max_value=MOST_ROUNDS, initial=50)
    suite = forms.ChoiceField(label="Suite", required=False)
    experiment = forms.ChoiceField(label="Experiment", required=False)
    label_set = forms.ChoiceField(label="Label set", required=False)
    count = forms.IntegerField(label="Rounds at most", min_value=1, max_value=MOST_ROUNDS, initial=60)
    pick = forms.ChoiceField(
        label="Order",
        choices=PICKS,
        initial=NEAR,
        help_text="Near the pass mark first: half from there, the rest from low and high scores. Rounds that "
        "people scored come first.",
    )
    repeats = forms.IntegerField(
        label="Repeats",
        min_value=1,
        max_value=10,
        initial=1,
        help_text="3 or more separate change from noise; each costs as much as the first.",
    )
    draft = forms.CharField(required=False, max_length=MOST_DRAFT_CHARS, widget=forms.HiddenInput)

    def __init__(
        self,
        *args: Any,
        suites: Sequence[Suite],
        experiments: Sequence[Experiment],
        label_sets: Sequence[LabelSet],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        offered = {SUITE: suites, EXPERIMENT: experiments, LABELS: label_sets}
        self.choose("source", [(key, words) for key, words in SOURCES.items() if offered.get(key, True)])
        named: dict[str, Sequence[Suite | Experiment | LabelSet]] = {}
        named |= {"suite": suites, "experiment": experiments, "label_set": label_sets}
        for name, rows in named.items():
            self.choose(name, [("", "Choose one"), *((str(row.pk), row.name) for row in rows)])
            if len(rows) == 1:
                self.fields[name].initial = str(rows[0].pk)
        self.rows = {name: {str(row.pk): row for row in rows} for name, rows in named.items()}

    @property
    def is_draft(self) -> bool:
        return bool(self["draft"].value())

    def clean_draft(self) -> dict[str, Any] | None:
        """The draft as `engine.codec` writes it, or None."""
        text = self.cleaned_data["draft"]
        if not text:
            return None
        try:
            values = json.loads(text)
            rubric_from_json(values)
        except (ValueError, TypeError, RecursionError, BadRubric) as problem:
            raise forms.ValidationError(
                "The draft cannot be read. Open the editor and choose Replay draft again."
            ) from problem
        found: dict[str, Any] = values
        return found

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        needed = {SUITE: "suite", EXPERIMENT: "experiment", LABELS: "label_set"}
        name = needed.get(cleaned.get("source", ""))
        if name and not cleaned.get(name):
            self.add_error(name, "Choose one.")
        if cleaned.get("source") != RUNS:
            self.errors.pop("runs", None)
        return cleaned

    def chosen(self, name: str) -> Any:
        """The chosen suite, experiment or label set; None if another source is used."""
        return self.rows[name].get(self.cleaned_data.get(name, ""))
