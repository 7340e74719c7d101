"""The form to edit a round's candidate."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from refinement.judging.same_text import plain_lines
from refinement.services.runs.creating import MAX_TEXT_CHARS
from refinement.services.runs.hand_rounds import Edit
from refinement.services.runs.lifecycle import MOST_MORE_ROUNDS

ROUNDS_WRONG = f"Enter 1 to {MOST_MORE_ROUNDS} rounds, including this one."


class HandRoundForm(forms.Form):
    """The text, and for a finished run the number of rounds to add."""

    use_required_attribute = False

    text = forms.CharField(
        label="Text",
        strip=False,
        max_length=MAX_TEXT_CHARS,
        error_messages={
            "required": "Enter a text.",
            "max_length": f"At most {MAX_TEXT_CHARS:,} characters. Shorten the text.",
        },
        widget=forms.Textarea(attrs={"rows": 24, "dir": "auto", "spellcheck": "true"}),
    )
    rounds = forms.IntegerField(
        label="More rounds",
        min_value=1,
        max_value=MOST_MORE_ROUNDS,
        help_text=f"Including this one; 1 to {MOST_MORE_ROUNDS}. With 1, only your text is judged.",
        error_messages=dict.fromkeys(("required", "invalid", "min_value", "max_value"), ROUNDS_WRONG),
    )
    newest = forms.IntegerField(min_value=0, max_value=10**6, widget=forms.HiddenInput)

    def __init__(self, *args: Any, finished: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not finished:
            del self.fields["rounds"]

    def clean_text(self) -> str:
        # Browsers send line ends as CRLF.
        return plain_lines(str(self.cleaned_data["text"]))

    def edit(self, base: int, *, resume: bool) -> Edit:
        """The values for the service."""
        given = self.cleaned_data
        return Edit(base, given["text"], given["newest"], given.get("rounds"), resume=resume)

    def take_over(self, error: ValidationError) -> None:
        """Adds the service's errors to their fields."""
        for name, words in error.message_dict.items():
            self.add_error(name if name in self.fields else None, words)
