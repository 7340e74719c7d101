"""The form of a prompt preview: version, text, round, and assumed verdict."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms

from refinement.engine.types import Rubric
from refinement.judging.rehearsal import AssumedScores
from refinement.judging.schema import plain, scale_in_words
from refinement.selectors.rubrics.judged_rounds import RunChoice
from refinement.texts import storable

MAX_TEXT_CHARS = 200_000
MAX_ISSUES = 50
MOST_ROUNDS = 100
SAMPLE = {
    "task": "Explain to a new colleague how our backups are made and how they are restored.",
    "candidate": "Our backups run every night at two. A copy is kept in another building for four weeks.\n\n"
    "To restore one, open the backup page, choose the day and press Restore.",
    "earlier": "We make backups every night.",
    "issues": "It does not say who may start a restore.\nIt does not say how long a restore takes.",
    "asi": "Walk through one restore from beginning to end, with the time each step takes.",
}

# Examples for kinds of work that the text about backups would not suit.
SAMPLES = {
    "code": {
        "task": "Write a Python function that returns the median of a list of numbers.",
        "candidate": "def median(numbers):\n    found = sorted(numbers)\n    return found[len(found) // 2]",
        "earlier": "def median(numbers):\n    return sum(numbers) / len(numbers)",
        "issues": "Wrong for lists of even length.\nFails on an empty list without saying why.",
        "asi": "Return the mean of the two middle values for lists of even length.",
    },
    "message": {
        "task": "Ask the vendor for a new delivery date.",
        "candidate": "Hello Ms. Vega,\n\nthe shelves were due on Monday. When will they arrive?\n\nBest, Ben",
        "earlier": "Where are our shelves?",
        "issues": "It does not name the order.\nIt does not say by when an answer is needed.",
        "asi": "Name the order and the day by which you need the answer.",
    },
    "prompt": {
        "task": "Write a prompt that sorts support requests into billing, technical and other.",
        "candidate": "Sort the request into billing, technical or other. Reply with one word.",
        "earlier": "Sort the request.",
        "issues": "Requests that fit two groups are not covered.",
        "asi": "Say which group wins when a request fits two.",
    },
}


def not_too_long(text: str) -> None:
    """A validator instead of `max_length`, with which browsers silently cut pasted text."""
    if len(text) > MAX_TEXT_CHARS:
        raise forms.ValidationError(
            f"{len(text):,} characters; at most {MAX_TEXT_CHARS:,} are allowed. Shorten it."
        )


def _long(label: str, help_text: str, rows: int) -> forms.CharField:
    return forms.CharField(
        label=label,
        required=False,
        strip=False,
        help_text=help_text,
        validators=[not_too_long],
        widget=forms.Textarea(attrs={"rows": rows}),
    )


class PreviewForm(forms.Form):
    """Input of a preview; nothing is sent or stored."""

    version = forms.TypedChoiceField(label="Version", coerce=int)
    run = forms.TypedChoiceField(
        label="Example",
        required=False,
        coerce=int,
        empty_value=None,
        help_text="A run's task, texts and verdicts, or your own text.",
    )
    number = forms.IntegerField(
        label="Round",
        required=False,
        min_value=1,
        max_value=MOST_ROUNDS,
        help_text="Empty: the newest.",
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
    )
    task = _long("Task", "What the writer should write.", 3)
    candidate = _long("Text", "The text judged in this round.", 8)
    earlier = _long("Text of earlier rounds", "Empty: the text above.", 4)
    score = forms.DecimalField(
        label="Score of every criterion", required=False, max_digits=15, decimal_places=6
    )
    issues = _long("Issues", "What the judge found, one per line.", 3)
    asi = _long("Suggested change", "The one change the judge asked for.", 2)

    def __init__(
        self,
        data: Mapping[str, Any],
        *,
        definition: Rubric,
        versions: list[int],
        runs: list[RunChoice],
    ) -> None:
        super().__init__(data)
        self.definition = definition
        self._offer("version", [(number, f"Version {number}") for number in versions])
        self._offer("run", [("", "Text entered below"), *((run.pk, run.label) for run in runs)])
        self.fields[
            "score"
        ].help_text = f"{scale_in_words(definition.scale).capitalize()}. Empty: the middle."

    def _offer(self, name: str, choices: list[tuple[Any, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.TypedChoiceField)
        field.choices = choices

    def clean_score(self) -> Decimal | None:
        score: Decimal | None = self.cleaned_data["score"]
        if score is not None and not self.definition.scale.admits(score):
            words = scale_in_words(self.definition.scale)
            raise forms.ValidationError(f"{plain(score)} is not on the scale: {words}.")
        return score

    def clean_issues(self) -> str:
        text = str(self.cleaned_data["issues"])
        if len(lines_of(text)) > MAX_ISSUES:
            raise forms.ValidationError(f"At most {MAX_ISSUES} lines.")
        return text

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name in ("task", "candidate", "earlier", "issues", "asi"):
            if name in cleaned:
                cleaned[name] = storable(cleaned[name]).replace("\r\n", "\n")
        if cleaned.get("run") is None and "run" not in self.errors:
            for name, words in (
                ("task", "Enter a task."),
                ("candidate", "Enter a text to judge."),
            ):
                if name in cleaned and not cleaned[name].strip():
                    self.add_error(name, f"{words} Or choose a run above.")
        return cleaned

    @property
    def said(self) -> AssumedScores:
        """The assumed verdict."""
        given = self.cleaned_data
        score = given["score"] if given["score"] is not None else middle(self.definition)
        return AssumedScores(score, tuple(lines_of(given["issues"])), given["asi"].strip())


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def middle(definition: Rubric) -> Decimal:
    """A score in the middle of the scale, on its step."""
    scale = definition.scale
    half = scale.spread(Decimal("0.5"))
    return half if scale.step is None else half - (half - scale.minimum) % scale.step
