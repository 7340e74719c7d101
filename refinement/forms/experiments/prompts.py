"""Prompt templates of a configuration, in place of the rubric's."""

from django import forms

from refinement.engine.types import Rubric
from refinement.forms.rubrics.values import tidy
from refinement.forms.rubrics.words import TEMPLATE_HELP
from refinement.judging.templating import TEMPLATE_NAMES, check_template, default_source
from refinement.selectors.experiments.definitions import TEMPLATES
from refinement.selectors.rubrics.words import TEMPLATE_LABELS

MOST_CHARS = 50_000
FIELDS = {f"prompt_{name}": name for name in TEMPLATE_NAMES}  # field to template
PROMPT_PATHS = {f"{TEMPLATES}{name}": field for field, name in FIELDS.items()}


def prompt_fields(rubric: Rubric) -> dict[str, forms.CharField]:
    """A field for each template. Empty means the rubric's, which is its placeholder."""
    found = {}
    for field, name in FIELDS.items():
        box = forms.Textarea(attrs={"rows": 4, "placeholder": source_of(rubric, name), "spellcheck": "false"})
        found[field] = forms.CharField(
            label=TEMPLATE_LABELS[name],
            required=False,
            max_length=MOST_CHARS,
            widget=box,
            help_text=TEMPLATE_HELP[name],
        )
    return found


def source_of(rubric: Rubric, name: str) -> str:
    """The rubric's own template, or the default."""
    return rubric.templates.get(name) or default_source(name, rubric.profile)


def prompt_cleaned(rubric: Rubric, field: str, text: str) -> tuple[str, list[str]]:
    """The template, empty if it is the rubric's, and its problems by line."""
    name, own = FIELDS[field], tidy(text).strip()
    if not own or own == tidy(source_of(rubric, name)).strip():
        return "", []
    return own, [f"Line {problem.line}: {problem.message}" for problem in check_template(name, own)[:8]]
