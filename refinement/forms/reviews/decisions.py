"""The form in which somebody decides about a run, beside what the judge found."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from refinement.engine.sentences import round_name
from refinement.engine.types import Rubric
from refinement.models import DecisionKind, Run
from refinement.services.reviews.decisions import REASON_CHARS

KINDS = [
    (DecisionKind.APPROVED.value, "Approve a round"),
    (DecisionKind.RESULT.value, "Make another round the result"),
    (DecisionKind.CHANGES.value, "Ask for changes"),
    (DecisionKind.REJECTED.value, "Reject the run"),
]
WITHDRAW = (DecisionKind.WITHDRAWN.value, "Withdraw the decision")


class DecisionForm(forms.Form):
    """Named by the last decision that the person has seen; 0 where there was none."""

    kind = forms.ChoiceField(
        label="Decision", widget=forms.RadioSelect, error_messages={"required": "Choose what you decide."}
    )
    round = forms.TypedChoiceField(
        label="Round",
        coerce=int,
        empty_value=None,
        required=False,
        help_text="For “Approve” and “Make another round the result”.",
        error_messages={"invalid_choice": "There is no such round in this run."},
    )
    reason = forms.CharField(
        label="Reason",
        strip=False,
        error_messages={"required": "Say why, for those who read this later."},
        help_text=f"Everybody in the project reads it. Up to {REASON_CHARS:,} characters.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    seen = forms.IntegerField(widget=forms.HiddenInput, min_value=0, max_value=10**9)

    def __init__(self, *args: Any, rounds: Sequence[tuple[int, str]], decided: bool, **options: Any) -> None:
        options.setdefault("auto_id", "decide-%s")
        super().__init__(*args, **options)
        kind, number = self.fields["kind"], self.fields["round"]
        assert isinstance(kind, forms.ChoiceField)
        assert isinstance(number, forms.ChoiceField)
        kind.choices = [*KINDS, WITHDRAW] if decided else KINDS
        number.choices = [(str(value), words) for value, words in rounds]

    def take_over(self, error: ValidationError) -> None:
        """Puts a service's complaints beside their fields."""
        for name, complaints in error.message_dict.items():
            self.add_error(name if name in self.fields else None, complaints)


def decision_form(
    run: Run, rubric: Rubric, numbers: Sequence[int], data: Any = None, *, seen: int = 0
) -> DecisionForm:
    """The form for a run as it is now; the round that stands as the result is chosen at first."""
    words = {run.best_round: ", the judge's best", run.chosen_round: ", chosen"}
    rounds = [
        (number, f"{round_name(rubric, number).capitalize()}{words.get(number, '')}") for number in numbers
    ]
    standing = run.chosen_round or run.best_round or (numbers[-1] if numbers else None)
    initial = {"seen": seen, "round": standing}
    return DecisionForm(data, rounds=rounds, decided=bool(run.decision), initial=initial)
