"""Forms for a new rubric and for a copy."""

from typing import Any

from django import forms

from refinement.engine.artifacts import ARTIFACT_TYPES
from refinement.engine.profiles import PROFILES
from refinement.models import Membership
from refinement.services.rubrics.editing import NAME_LENGTH


class NewRubricForm(forms.Form):
    """A name and a starting point."""

    name = forms.CharField(
        label="Name",
        max_length=NAME_LENGTH,
        help_text="You can change it later.",
        error_messages={"required": "Enter a name."},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    profile = forms.ChoiceField(
        choices=[(profile, profile) for profile in PROFILES],
        error_messages={
            "required": "Choose a profile.",
            "invalid_choice": "Unknown profile. Choose one below.",
        },
    )
    artifact = forms.ChoiceField(
        choices=[(key, artifact.name) for key, artifact in ARTIFACT_TYPES.items()],
        error_messages={
            "required": "Choose a kind of work.",
            "invalid_choice": "Unknown kind of work. Choose one below.",
        },
    )


class DuplicateForm(forms.Form):
    """A copy in one of the projects the user may edit."""

    name = forms.CharField(
        label="Name of the copy",
        max_length=NAME_LENGTH,
        error_messages={"required": "Enter a name for the copy."},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    project = forms.ChoiceField(
        label="Project",
        error_messages={
            "required": "Choose a project.",
            "invalid_choice": "Choose a project in which you are an editor or owner.",
        },
    )

    prefix = "copy"  # other forms on the page have a name field too

    def __init__(self, memberships: list[Membership], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.projects = {entry.project.slug: entry.project for entry in memberships}
        field = self.fields["project"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(slug, project.name) for slug, project in self.projects.items()]
