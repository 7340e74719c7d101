"""The form of a model's price."""

from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings

from refinement.providers.registry import Target
from refinement.selectors.launch.available_models import target_typed

PLAIN = {"autocomplete": "off", "spellcheck": "false"}


class PriceField(forms.DecimalField):
    """An amount per million tokens."""

    def __init__(self, label: str) -> None:
        amount = forms.TextInput(attrs={**PLAIN, "inputmode": "decimal"})
        super().__init__(
            label=f"{label}, {settings.CURRENCY} per million tokens",
            min_value=Decimal(0),
            max_digits=12,
            decimal_places=4,
            localize=False,
            widget=amount,
            error_messages={"min_value": "Enter 0 or more.", "invalid": "Enter an amount, such as 0.15."},
        )


class PriceForm(forms.Form):
    """The price of a model, for administrators."""

    model = forms.CharField(
        label="Model",
        max_length=400,
        help_text="Choose one, or enter endpoint/model, such as openai/gpt-4.1.",
        widget=forms.TextInput(attrs={**PLAIN, "list": "models-known"}),
    )
    prompt = PriceField("Input")
    completion = PriceField("Output")

    def clean_model(self) -> Target:
        try:
            return target_typed(self.cleaned_data["model"])
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None

    @property
    def values(self) -> dict[str, Any]:
        target: Target = self.cleaned_data["model"]
        prices = {name: self.cleaned_data[name] for name in ("prompt", "completion")}
        return {"endpoint": target.endpoint, "model": target.model, **prices}
