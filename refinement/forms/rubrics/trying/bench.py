"""Forms of rubric tests: text, judge and human scores."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django import forms

from refinement.engine.types import Rubric
from refinement.forms.runs.judges import JUDGE_CHOICES
from refinement.judging.schema import plain, scale_in_words
from refinement.models import CandidateOrigin, RubricVersion
from refinement.providers.registry import Target
from refinement.selectors.launch.available_models import Offer, target_typed
from refinement.selectors.launch.model_lists import model_choices
from refinement.selectors.rubrics.bench import round_choice
from refinement.services.rubrics.bench import MAX_CANDIDATE_CHARS, MAX_TASK_CHARS, MOST_REPEATS

SOURCES = {
    CandidateOrigin.PASTED: "Paste text",
    CandidateOrigin.CALIBRATION: "The rubric's calibration example",
    CandidateOrigin.ROUND: "A round of a run",
}
MOST_MODEL_CHARS = 200
NO_TEXT = "Paste the text to judge."
TEMPERATURE_HELP = (
    "At 0 the judge is called as in a run, so differences come from the server alone. Above 0 the "
    "model varies its replies, which never happens in a run."
)


def too_long(limit: int) -> dict[str, str]:
    return {"max_length": f"At most {limit:,} characters. Shorten the text."}


class BenchForm(forms.Form):
    """A text, a judge and a number of trials. Of alternative fields, only the chosen one is used."""

    use_required_attribute = False

    source = forms.ChoiceField(label="Text to judge", widget=forms.RadioSelect, initial="pasted")
    candidate = forms.CharField(
        label="Pasted text",
        strip=False,
        max_length=MAX_CANDIDATE_CHARS,
        error_messages={**too_long(MAX_CANDIDATE_CHARS), "required": NO_TEXT},
        widget=forms.Textarea(attrs={"rows": 8}),
    )
    round = forms.ChoiceField(
        label="Round",
        help_text="Of the newest runs in this project.",
        error_messages={"required": "Choose a round or paste the text."},
    )
    task = forms.CharField(
        label="Task",
        required=False,
        max_length=MAX_TASK_CHARS,
        error_messages=too_long(MAX_TASK_CHARS),
        help_text="What the writer was asked for; the judge reads it. A run's round includes it.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    version = forms.TypedChoiceField(label="Rubric version", coerce=int)
    judge = forms.CharField(
        label="Judge",
        widget=forms.Select,
        error_messages={"required": "Choose a model, or enter one below."},
    )
    judge_typed = forms.CharField(
        label="Or enter a model",
        required=False,
        max_length=400,
        help_text="Endpoint/model, such as ollama/qwen3:14b.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    judges = forms.ChoiceField(
        label="Who judges",
        required=False,
        choices=JUDGE_CHOICES,
        help_text="On a board, each judge scores alone with its lens. There is no deliberation here. If the "
        "rubric names no judges, the gallery's for its kind of work is used.",
    )
    repeats = forms.IntegerField(
        label="Trials",
        min_value=1,
        max_value=MOST_REPEATS,
        initial=5,
        help_text=f"1 to {MOST_REPEATS} for each judge. Three or more show how much scores vary.",
    )
    temperature = forms.DecimalField(
        label="Temperature",
        min_value=Decimal(0),
        max_value=Decimal(2),
        max_digits=3,
        decimal_places=2,
        initial=0,
        help_text=TEMPERATURE_HELP,
        widget=forms.NumberInput(attrs={"step": "0.05"}),
    )
    anchored = forms.BooleanField(
        label="Show the judge the calibration example and its scores",
        required=False,
        help_text="As in a run. Must be off if the text is the example itself.",
    )

    def __init__(
        self,
        *args: Any,
        versions: Sequence[RubricVersion],
        rounds: Sequence[Mapping[str, Any]],
        offers: Sequence[Offer],
        has_calibration: bool,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})
        self.nothing_offered = not any(offer.models for offer in offers)
        sources = {**SOURCES}
        if not rounds:
            del sources[CandidateOrigin.ROUND]
        if not has_calibration:
            del sources[CandidateOrigin.CALIBRATION]
            del self.fields["anchored"]
        self.choices("source", [(origin.value, words) for origin, words in sources.items()])
        self.choices("round", [("", "Choose one"), *((str(row["pk"]), round_choice(row)) for row in rounds)])
        self.choices("version", [(version.number, version_words(version)) for version in versions])
        self.choices("judge", model_choices(offers, self["judge"].value() or ""), widget_only=True)

    @property
    def more_open(self) -> bool:
        """Whether a folded setting has a value of its own or an error, or no model can be chosen."""
        typed = self["judge_typed"]
        changed = typed.value() or self["judges"].value() or self["temperature"].value() not in (0, "0", "")
        wrong = any(name in self.errors for name in ("judge_typed", "judges", "temperature", "anchored"))
        return bool(changed or wrong or self.nothing_offered)

    def choices(self, name: str, given: list[Any], *, widget_only: bool = False) -> None:
        field: Any = self.fields[name]
        field.widget.choices = given
        if not widget_only:
            field.choices = given

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        source = cleaned.get("source")
        unused = {"candidate": CandidateOrigin.PASTED, "round": CandidateOrigin.ROUND}
        for name, its_source in unused.items():
            if source != its_source:
                self.errors.pop(name, None)
        if source == CandidateOrigin.PASTED and cleaned.get("candidate", "x").isspace():
            self.add_error("candidate", NO_TEXT)
        if cleaned.get("judge_typed"):
            self.errors.pop("judge", None)
        cleaned["target"] = self.target(cleaned)
        return cleaned

    def target(self, cleaned: dict[str, Any]) -> Target | None:
        """The judge; an entered model overrides the chosen one."""
        field = "judge_typed" if cleaned.get("judge_typed") else "judge"
        if not cleaned.get(field):
            return None
        try:
            target = target_typed(cleaned[field])
        except ValueError as error:
            self.add_error(field, str(error))
            return None
        if len(target.model) > MOST_MODEL_CHARS:
            self.add_error(field, f"A model name has at most {MOST_MODEL_CHARS} characters.")
            return None
        return target


def version_words(version: RubricVersion) -> str:
    note = f": {version.note[:60]}" if version.note else ""
    return f"Version {version.number}{note}"


class HumanScoresForm(forms.Form):
    """An optional score for each criterion, on the rubric's scale."""

    def __init__(self, *args: Any, rubric: Rubric, given: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.rubric = rubric
        # By position: keys are free text and may not be valid field names.
        for position, criterion in enumerate(rubric.criteria):
            step = rubric.scale.step
            self.fields[f"score-{position}"] = forms.DecimalField(
                label=criterion.name,
                required=False,
                initial=given.get(criterion.key),
                max_digits=9,
                widget=forms.NumberInput(attrs={"step": "any" if step is None else plain(step)}),
            )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name, score in list(cleaned.items()):
            if score is not None and not self.rubric.scale.admits(score):
                self.add_error(name, f"Scores are {scale_in_words(self.rubric.scale)}.")
        return cleaned

    def scores(self) -> dict[str, Decimal]:
        """The entered scores, by criterion key."""
        typed = [self.cleaned_data[f"score-{position}"] for position in range(len(self.rubric.criteria))]
        keys = [criterion.key for criterion in self.rubric.criteria]
        return {key: score for key, score in zip(keys, typed, strict=True) if score is not None}
