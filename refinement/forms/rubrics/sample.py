"""The form for a new rubric from a sample."""

from collections.abc import Sequence
from typing import Any

from django import forms

from refinement.providers.registry import Target
from refinement.selectors.launch.available_models import Offer, target_typed
from refinement.selectors.launch.model_lists import model_choices
from refinement.services.rubrics.proposals import MOST_GOAL_CHARS, MOST_SAMPLE_CHARS

MOST_MODEL_CHARS = 200


class SampleForm(forms.Form):
    """A sample, what it should achieve, and the model that proposes a rubric."""

    use_required_attribute = False

    goal = forms.CharField(
        label="Goal",
        max_length=MOST_GOAL_CHARS,
        help_text="In a sentence: who uses the work, and what should it do for them?",
        error_messages={"required": "Say in a sentence what the work should achieve."},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    sample = forms.CharField(
        label="Sample",
        strip=False,
        max_length=MOST_SAMPLE_CHARS,
        help_text="A typical text or piece of code, good or bad. It is sent to the model.",
        error_messages={"required": "Paste a sample of the work."},
        widget=forms.Textarea(attrs={"rows": 14}),
    )
    model = forms.CharField(
        label="Model",
        widget=forms.Select,
        error_messages={"required": "Choose a model."},
    )

    def __init__(self, *args: Any, offers: Sequence[Offer], **kwargs: Any) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})
        field: Any = self.fields["model"]
        field.widget.choices = model_choices(offers, self["model"].value() or "")

    def clean_model(self) -> Target:
        try:
            target = target_typed(self.cleaned_data["model"])
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error
        if len(target.model) > MOST_MODEL_CHARS:
            raise forms.ValidationError(f"A model name has at most {MOST_MODEL_CHARS} characters.")
        return target
