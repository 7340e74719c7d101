"""What the forms of all measurements share: a rubric version, a judge, and what may be spent."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django import forms

from refinement.engine.types import JudgeMode, Rubric
from refinement.forms.rubrics.trying.bench import MOST_MODEL_CHARS, version_words
from refinement.models import RubricVersion
from refinement.providers.registry import Target
from refinement.selectors.launch.available_models import Offer, target_typed
from refinement.selectors.launch.model_lists import model_choices
from refinement.services.rubrics.bench import panel_to_test, panel_values
from refinement.services.trust.measurements.creating import JudgeChoice

WHO_CHOICES = (
    ("", "As the rubric says"),
    (JudgeMode.SINGLE.value, "One judge"),
    (JudgeMode.BOARD.value, "A board"),
)


class MeasuringForm(forms.Form):
    """A version, a judge and a budget. Subclasses choose the texts.

    `conditional` names fields that are shown only where they are required.
    """

    use_required_attribute = False
    conditional: ClassVar[Sequence[str]] = ()

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
        choices=WHO_CHOICES,
        help_text="On a board, each judge scores alone; the median of each criterion counts.",
    )
    token_budget = forms.IntegerField(
        label="Token budget",
        required=False,
        min_value=1,
        help_text="It pauses when this many tokens are used. Empty for no limit.",
    )
    ask_again = forms.BooleanField(
        label="Ask again",
        required=False,
        help_text="Also where this judge has scored the same text before. Otherwise that verdict is reused.",
    )

    def __init__(
        self, *args: Any, versions: Sequence[RubricVersion], offers: Sequence[Offer], **kwargs: Any
    ) -> None:
        super().__init__(*args, **{"label_suffix": "", **kwargs})
        for name in self.conditional:
            field: Any = self.fields[name]
            field.is_conditional = True
        self.nothing_offered = not any(offer.models for offer in offers)
        self.choose("version", [(version.number, version_words(version)) for version in versions])
        self.choose("judge", model_choices(offers, self["judge"].value() or ""), widget_only=True)

    def choose(self, name: str, given: list[Any], *, widget_only: bool = False) -> None:
        """Sets the choices of a field; of a text field, those of its widget alone."""
        field: Any = self.fields[name]
        field.widget.choices = given
        if not widget_only:
            field.choices = given

    @property
    def more_open(self) -> bool:
        """Whether a folded setting has a value or an error, or no model can be chosen."""
        names = ("judge_typed", "judges", "token_budget", "ask_again")
        changed = any(self[name].value() for name in names)
        return bool(changed or self.nothing_offered or any(name in self.errors for name in names))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
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

    def judge_choice(self, rubric: Rubric, chars: int) -> JudgeChoice:
        """The judge, or the board that the rubric or the form asks for, for texts of this length."""
        target: Target = self.cleaned_data["target"]
        panel = panel_to_test(rubric, chars, self.cleaned_data["judges"])
        return target.endpoint, target.model, [panel_values(seat, target) for seat in panel]
