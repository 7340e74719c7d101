"""The form for a decision on a run."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from refinement.engine.sentences import round_name
from refinement.models import DecisionKind, Run
from refinement.services.reviews.decisions import REASON_CHARS

KINDS = [
    (DecisionKind.APPROVED.value, "Approve a round"),
    (DecisionKind.RESULT.value, "Choose another round as the result"),
    (DecisionKind.CHANGES.value, "Request changes (does not restart the run)"),
    (DecisionKind.REJECTED.value, "Reject the run"),
]
WITHDRAW = (DecisionKind.WITHDRAWN.value, "Withdraw the decision")


class DecisionForm(forms.Form):
    """`seen` is the last decision the user has seen, 0 if there was none."""

    kind = forms.ChoiceField(
        label="Decision", widget=forms.RadioSelect, error_messages={"required": "Choose a decision."}
    )
    round = forms.TypedChoiceField(
        label="Round",
        coerce=int,
        empty_value=None,
        required=False,
        help_text="The round to approve, or the new result.",
        error_messages={"invalid_choice": "Round not found in this run."},
    )
    reason = forms.CharField(
        label="Reason",
        strip=False,
        error_messages={"required": "Give a reason."},
        help_text=f"Required. Visible to everyone in the project. At most {REASON_CHARS:,} characters.",
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
        """Adds the service's errors to their fields."""
        for name, complaints in error.message_dict.items():
            self.add_error(name if name in self.fields else None, complaints)


def decision_form(run: Run, numbers: Sequence[int], data: Any = None, *, seen: int = 0) -> DecisionForm:
    """The form for a run's current state; the current result is preselected."""
    words = {run.chosen_round: ", chosen", run.best_round: ", the judge's best"}
    rounds = [(number, f"{round_name(number).capitalize()}{words.get(number, '')}") for number in numbers]
    standing = run.chosen_round or run.best_round or (numbers[-1] if numbers else None)
    initial = {"seen": seen, "round": standing}
    return DecisionForm(data, rounds=rounds, decided=bool(run.decision), initial=initial)
