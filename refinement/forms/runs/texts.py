"""The rubric's texts that a launch can replace for its runs: contract, background and search space."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django import forms

from refinement.engine.types import Rubric
from refinement.forms.rubrics.values import tidy


@dataclass(frozen=True, slots=True)
class RubricText:
    """A text of the rubric; `name` is both its field in the form and in the definition."""

    name: str
    label: str
    help: str
    limit: int

    def of(self, rubric: Rubric) -> str:
        return str(getattr(rubric, self.name))

    def field(self) -> forms.CharField:
        return forms.CharField(
            label=self.label,
            required=False,
            help_text=self.help,
            max_length=self.limit,
            error_messages={"max_length": f"At most {self.limit:,} characters. Shorten the text."},
            widget=forms.Textarea(attrs={"rows": 4}),
        )


TEXTS = (
    RubricText(
        "output_contract",
        "Output contract",
        "Required form of the result. The rubric's checks, schema and pattern still apply.",
        20_000,
    ),
    RubricText("background", "Background", "What the writer should know: audience, style, facts.", 50_000),
    RubricText(
        "search_space", "Search space", "What may be tried, such as models, settings or approaches.", 20_000
    ),
)


def texts_of(rubric: Rubric) -> dict[str, str]:
    """The rubric's texts by form field name."""
    return {text.name: text.of(rubric) for text in TEXTS}


def texts_posted(data: Mapping[str, Any], shown: Rubric, chosen: Rubric) -> dict[str, str]:
    """The texts for the chosen rubric. What was not changed, or not sent, is the rubric's.

    `shown` is the rubric that the page had filled the fields with. It is another one if the rubric was
    changed without a reload.
    """
    found = {}
    for text in TEXTS:
        sent = data.get(text.name)
        is_unchanged = sent is None or same(sent, text.of(shown))
        found[text.name] = text.of(chosen) if is_unchanged else str(sent)
    return found


def same(sent: str, text: str) -> bool:
    """Whether two texts differ only in line ends and in space around them, as browsers send them."""
    return tidy(sent).strip() == tidy(text).strip()


def texts_changed(saved: Rubric, used: Rubric) -> list[str]:
    """The labels of the texts that differ."""
    return [text.label for text in TEXTS if not same(text.of(used), text.of(saved))]


def rubric_with_texts(rubric: Rubric, given: Mapping[str, str]) -> Rubric:
    """The rubric with the given texts. A text that was not changed stays exactly as it is."""
    changes: dict[str, Any] = {
        text.name: tidy(given[text.name]).strip()
        for text in TEXTS
        if text.name in given and not same(given[text.name], text.of(rubric))
    }
    return replace(rubric, **changes) if changes else rubric
