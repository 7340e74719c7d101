"""The form of a rubric's calibration example: a text and scores by criterion."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from refinement.engine.types import Criterion, Rubric
from refinement.judging.schema import plain

SCORE = "score-"


class CalibrationForm(forms.Form):
    """`version` is the one it was opened on, to detect concurrent saves."""

    text = forms.CharField(
        label="Text",
        strip=False,
        error_messages={"required": "The text is empty. Paste the text that the scores belong to."},
        help_text="The text that people scored. Up to 200,000 characters.",
        widget=forms.Textarea(attrs={"rows": 14}),
    )
    note = forms.CharField(
        label="Note",
        required=False,
        max_length=400,
        help_text="Why it was chosen, or who scored it. Shown with the version.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    edited_from = forms.IntegerField(widget=forms.HiddenInput, min_value=1, max_value=10**9)

    def __init__(self, *args: Any, definition: Rubric, **options: Any) -> None:
        super().__init__(*args, **options)
        self.definition = definition
        for criterion in definition.criteria:
            self.fields[SCORE + criterion.key] = score_field(criterion, definition)

    @property
    def scores(self) -> dict[str, Decimal]:
        """The entered scores by criterion."""
        given = {criterion.key: self.cleaned_data.get(SCORE + criterion.key) for criterion in self.criteria}
        return {key: score for key, score in given.items() if score is not None}

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        return self.definition.criteria

    def score_fields(self) -> Iterator[tuple[Criterion, forms.BoundField]]:
        """Each criterion with its field."""
        for criterion in self.criteria:
            yield criterion, self[SCORE + criterion.key]

    def clean_text(self) -> str:
        # Browsers send line ends as CRLF; the text uses LF.
        return str(self.cleaned_data["text"]).replace("\r\n", "\n")

    def take_over(self, error: ValidationError) -> None:
        """Adds the service's errors to their fields; others are shown above the scores."""
        for name, complaints in error.message_dict.items():
            self.add_error(name if name in self.fields else None, complaints)


def score_field(criterion: Criterion, definition: Rubric) -> forms.DecimalField:
    scale = definition.scale
    attributes: Mapping[str, str] = {
        "min": plain(scale.minimum),
        "max": plain(scale.maximum),
        "step": plain(scale.step) if scale.step else "any",
        "inputmode": "decimal",
        "autocomplete": "off",
    }
    return forms.DecimalField(
        label=criterion.name,
        required=False,
        max_digits=15,
        decimal_places=6,
        error_messages={"invalid": "Enter a number, such as 7.5."},
        widget=forms.NumberInput(attrs=dict(attributes)),
    )


def calibration_initial(definition: Rubric, version: int) -> dict[str, Any]:
    """Initial values of an existing example."""
    scores = {SCORE + key: plain(score) for key, score in definition.calibration_scores.items()}
    return {"text": definition.calibration_text, "edited_from": version, **scores}
