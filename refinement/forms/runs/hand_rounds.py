"""The form in which a person edits a round's candidate."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from refinement.judging.same_text import plain_lines
from refinement.services.runs.creating import MAX_TEXT_CHARS
from refinement.services.runs.hand_rounds import Edit
from refinement.services.runs.lifecycle import MOST_MORE_ROUNDS

ROUNDS_WRONG = f"Enter 1 to {MOST_MORE_ROUNDS} more rounds, including this one."


class HandRoundForm(forms.Form):
    """The text, and for a run that has ended how many rounds follow."""

    use_required_attribute = False

    text = forms.CharField(
        label="The text",
        strip=False,
        max_length=MAX_TEXT_CHARS,
        error_messages={
            "required": "The text is empty; an empty text cannot be judged.",
            "max_length": f"The text is longer than {MAX_TEXT_CHARS:,} characters. Shorten it.",
        },
        widget=forms.Textarea(attrs={"rows": 24, "dir": "auto", "spellcheck": "true"}),
    )
    rounds = forms.IntegerField(
        label="More rounds",
        min_value=1,
        max_value=MOST_MORE_ROUNDS,
        help_text=f"This one included; 1 to {MOST_MORE_ROUNDS}. With 1, your text is judged, no more.",
        error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), ROUNDS_WRONG),
    )
    newest = forms.IntegerField(min_value=0, max_value=10**6, widget=forms.HiddenInput)

    def __init__(self, *args: Any, finished: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not finished:
            del self.fields["rounds"]

    def clean_text(self) -> str:
        # A form sends line ends of its own, which are no part of the text.
        return plain_lines(str(self.cleaned_data["text"]))

    def edit(self, base: int, *, resume: bool) -> Edit:
        """As the service takes it."""
        given = self.cleaned_data
        return Edit(base, given["text"], given["newest"], given.get("rounds"), resume=resume)

    def take_over(self, error: ValidationError) -> None:
        """What the service refused, beside its field where the form has it."""
        for name, words in error.message_dict.items():
            self.add_error(name if name in self.fields else None, words)
