"""Forms about rubrics as a whole: a new one, a copy."""

from typing import Any

from django import forms

from refinement.engine.artifacts import ARTIFACT_TYPES
from refinement.engine.profiles import PROFILES
from refinement.models import Membership
from refinement.services.rubrics.editing import NAME_LENGTH


class NewRubricForm(forms.Form):
    """A name, and what to start from."""

    name = forms.CharField(
        label="Name",
        max_length=NAME_LENGTH,
        help_text="What your team will look for in the list. You can change it later.",
        error_messages={"required": "Give the rubric a name."},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    profile = forms.ChoiceField(
        choices=[(profile, profile) for profile in PROFILES],
        error_messages={
            "required": "Choose how the loop runs.",
            "invalid_choice": "There is no such way to run the loop; choose one of those below.",
        },
    )
    artifact = forms.ChoiceField(
        choices=[(key, artifact.name) for key, artifact in ARTIFACT_TYPES.items()],
        error_messages={
            "required": "Choose the kind of work that is judged.",
            "invalid_choice": "There is no such kind of work; choose one of those below.",
        },
    )


class DuplicateForm(forms.Form):
    """A copy under a name of its own, in one of the projects that the person may edit."""

    name = forms.CharField(
        label="Name of the copy",
        max_length=NAME_LENGTH,
        error_messages={"required": "Give the copy a name."},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    project = forms.ChoiceField(
        label="Project",
        error_messages={
            "required": "Choose a project.",
            "invalid_choice": "Choose a project of yours in which you are an editor or an owner.",
        },
    )

    prefix = "copy"  # other forms on the page have a name too

    def __init__(self, memberships: list[Membership], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.projects = {entry.project.slug: entry.project for entry in memberships}
        field = self.fields["project"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(slug, project.name) for slug, project in self.projects.items()]
