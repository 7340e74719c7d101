"""Options of training data."""

from django import forms

from refinement.selectors.runs.training import TrainingChoice

NO_NUMBER = {"invalid": "Enter a number such as 8.5.", "max_digits": "Enter a number such as 8.5."}


class TrainingForm(forms.Form):
    """A minimum score or difference on each run's own scale, and whether to include imported runs."""

    least = forms.DecimalField(
        required=False,
        max_digits=14,
        decimal_places=6,
        error_messages=NO_NUMBER,
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
    )
    with_imported = forms.BooleanField(label="Include imported runs", required=False)

    @property
    def choice(self) -> TrainingChoice:
        return TrainingChoice(self.cleaned_data["least"], self.cleaned_data["with_imported"])
