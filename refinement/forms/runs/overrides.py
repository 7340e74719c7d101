"""Rubric settings that can be changed for one launch."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError

from refinement.engine.codec import BadRubric, rubric_with
from refinement.engine.types import Rubric
from refinement.forms.rubrics.values import Refused, number_of, whole_of
from refinement.selectors.rubrics.definitions import plain

NONE = "none"


@dataclass(frozen=True, slots=True)
class Override:
    """A rubric setting that can be changed for one launch."""

    name: str
    path: str
    label: str
    help: str
    whole: bool = True
    low: Decimal | None = Decimal(1)
    high: Decimal | None = None
    may_be_none: bool = False
    is_limit: bool = False

    def field(self, rubric: Rubric) -> forms.CharField:
        attrs = {
            "placeholder": self.as_the_rubric_says(rubric),
            "inputmode": "numeric" if self.whole else "decimal",
            "autocomplete": "off",
        }
        widget = forms.TextInput(attrs=attrs)
        return forms.CharField(
            label=self.label, required=False, max_length=40, help_text=self.help, widget=widget
        )

    def read(self, text: str) -> str:
        """The value in the rubric's type; raises Refused if not valid."""
        if self.may_be_none and text.strip().casefold() == NONE:
            return NONE
        if self.whole:
            return str(whole_of(text, self.low, self.high))
        return plain(number_of(text, self.low, self.high, 4))

    def as_the_rubric_says(self, rubric: Rubric) -> str:
        """The default if the field is empty."""
        value: Any = rubric
        for part in self.path.split("."):
            value = getattr(value, part)
        if value is None:
            return NONE
        return plain(value) if isinstance(value, Decimal) else str(value)


MOST = Decimal(1_000_000_000)
OR_NONE = "Enter none for no limit."
OVERRIDES = (
    Override("rounds", "policy.max_rounds", "Maximum rounds", "", high=Decimal(100)),
    Override(
        "threshold",
        "policy.pass_threshold",
        "Pass mark",
        "On the rubric's scale. Enter none for no pass mark.",
        whole=False,
        low=None,
        may_be_none=True,
    ),
    Override("tokens", "policy.budget.tokens", "Tokens", OR_NONE, high=MOST, may_be_none=True, is_limit=True),
    Override(
        "seconds",
        "policy.budget.seconds",
        "Model time in seconds",
        OR_NONE,
        whole=False,
        high=MOST,
        may_be_none=True,
        is_limit=True,
    ),
    Override("calls", "policy.budget.calls", "Calls", OR_NONE, high=MOST, may_be_none=True, is_limit=True),
    Override(
        "judge_limit",
        "policy.judge_limit_chars",
        "Judge's limit (characters)",
        "Of a longer text the judge sees the start and the end.",
        high=Decimal(2_000_000),
    ),
    Override(
        "source_limit",
        "policy.source_limit_chars",
        "Sources in a prompt (characters)",
        "In total. Longer sources are cut in the middle.",
        high=Decimal(500_000),
    ),
    Override(
        "producer_tokens",
        "policy.producer_tokens",
        "Writer's limit (tokens)",
        "A token is about three quarters of a word.",
        high=Decimal(1_000_000),
    ),
    Override(
        "temperature",
        "policy.producer_temperature",
        "Writer temperature",
        "0 is stable; higher values vary more.",
        whole=False,
        low=Decimal(0),
        high=Decimal(2),
    ),
)


def overrides_between(saved: Rubric, used: Rubric) -> dict[str, str]:
    """A run's changes to its rubric, by form field name."""
    return {
        override.name: override.as_the_rubric_says(used)
        for override in OVERRIDES
        if override.as_the_rubric_says(used) != override.as_the_rubric_says(saved)
    }


def rubric_overridden(saved: Rubric, given: Mapping[str, str]) -> Rubric:
    """The rubric with the overrides; raises ValidationError by override name."""
    changes: dict[str, str] = {}
    wrong: dict[str, str] = {}
    for override in OVERRIDES:
        if not given.get(override.name, "").strip():
            continue
        try:
            changes[override.path] = override.read(given[override.name])
        except Refused as refusal:
            wrong[override.name] = str(refusal)
    mark, scale = changes.get("policy.pass_threshold", NONE), saved.scale
    if mark != NONE and not scale.minimum <= Decimal(mark) <= scale.maximum:
        ends = f"{plain(scale.minimum)} to {plain(scale.maximum)}"
        wrong["threshold"] = f"The pass mark must be on the rubric's scale, from {ends}."
    if not wrong:
        try:
            return rubric_with(saved, changes) if changes else saved
        except BadRubric as problem:
            wrong[NON_FIELD_ERRORS] = f"These settings do not fit together: {problem}."
    raise ValidationError(wrong)
