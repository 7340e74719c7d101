"""The scoring form: a score and a reason for each criterion, and a note."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from refinement.engine.types import Criterion, Rubric
from refinement.judging.schema import plain
from refinement.models import HumanScore
from refinement.services.reviews.human_scores import NOTE_CHARS, REASON, SCORE, Reading


class HumanScoreForm(forms.Form):
    """`version` is the user's own score that it was opened on, 0 if there is none."""

    note = forms.CharField(
        label="Note",
        required=False,
        strip=False,
        help_text=f"About the whole text, at most {NOTE_CHARS:,} characters.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0, max_value=10**9)

    def __init__(self, *args: Any, definition: Rubric, **options: Any) -> None:
        super().__init__(*args, **options)
        self.definition = definition
        for criterion in definition.criteria:
            self.fields[SCORE + criterion.key] = score_field(criterion, definition)
            self.fields[REASON + criterion.key] = reason_field(criterion)

    @property
    def reading(self) -> Reading:
        """The valid scores, reasons and note."""
        keys = [criterion.key for criterion in self.definition.criteria]
        return Reading(
            scores={key: self.cleaned_data[SCORE + key] for key in keys},
            reasons={key: self.cleaned_data[REASON + key] for key in keys},
            note=self.cleaned_data["note"],
        )

    def criterion_fields(self) -> Iterator[tuple[Criterion, forms.BoundField, forms.BoundField]]:
        """Each criterion with its two fields."""
        for criterion in self.definition.criteria:
            yield criterion, self[SCORE + criterion.key], self[REASON + criterion.key]

    def take_over(self, error: ValidationError) -> None:
        """Adds the service's errors to their fields."""
        for name, complaints in error.message_dict.items():
            self.add_error(name if name in self.fields else None, complaints)


def score_field(criterion: Criterion, definition: Rubric) -> forms.DecimalField:
    scale = definition.scale
    attributes = {
        "min": plain(scale.minimum),
        "max": plain(scale.maximum),
        "step": plain(scale.step) if scale.step else "any",
        "inputmode": "decimal",
        "autocomplete": "off",
    }
    return forms.DecimalField(
        label=criterion.name,
        max_digits=15,
        decimal_places=6,
        error_messages={
            "required": "Enter a score.",
            "invalid": f"Enter a number, such as {plain(_middle(definition))}.",
        },
        widget=forms.NumberInput(attrs=attributes),
    )


def _middle(definition: Rubric) -> Decimal:
    scale = definition.scale
    if scale.step is None:
        return (scale.minimum + scale.maximum) / 2
    return scale.minimum + (scale.maximum - scale.minimum) / 2 // scale.step * scale.step


def reason_field(criterion: Criterion) -> forms.CharField:
    return forms.CharField(
        label=f"Reason for {criterion.name}",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 1, "placeholder": "Why? (optional)"}),
    )


def score_initial(kept: HumanScore | None) -> dict[str, Any]:
    """Initial values of an existing score."""
    if kept is None:
        return {"version": 0}
    initial: dict[str, Any] = {"version": kept.version, "note": kept.note}
    for entry in kept.scores:
        initial[SCORE + entry["key"]] = entry["score"]
        initial[REASON + entry["key"]] = entry["reason"]
    return initial
