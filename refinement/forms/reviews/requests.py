"""Forms for review requests and for automatic review rules."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from refinement.models import Membership, Project, Rubric, RuleKind, User
from refinement.selectors.people.members import members_of
from refinement.services.reviews.requests import MOST_REVIEWERS, NOTE_CHARS
from refinement.services.reviews.rules import MOST_DUE_DAYS

NO_DATE = {"invalid": "Enter a date such as 2026-03-31."}
OUT_OF_RANGE = ("invalid", "min_value", "max_value")
MOST_RUBRICS = 500
KINDS = [
    (RuleKind.FAILED.value, "Every FAIL of the rubric below"),
    (RuleKind.SIGNAL.value, "Every run whose scores do not follow the changes"),
    (RuleKind.SAMPLE.value, "A sample of finished runs"),
]


class PeopleField(forms.MultipleChoiceField):
    """Project members by id; `people` returns their accounts."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, **kwargs: Any) -> None:
        self.members: dict[str, User] = {}
        super().__init__(**kwargs)

    def offer(self, memberships: Sequence[Membership], me: User) -> None:
        """Members who can sign in, the current user last."""
        people = [entry.user for entry in memberships if entry.user.is_active]
        people.sort(key=lambda person: person.pk == me.pk)
        self.members = {str(person.pk): person for person in people}
        self.choices = [
            (number, f"{person.display_name}{' (you)' if person.pk == me.pk else ''}")
            for number, person in self.members.items()
        ]

    def people(self, numbers: Sequence[str]) -> list[User]:
        return [self.members[number] for number in numbers]


def reviewers_field() -> PeopleField:
    return PeopleField(
        label="Reviewers",
        help_text=f"At most {MOST_REVIEWERS} people.",
        error_messages={
            "required": "Choose reviewers.",
            "invalid_choice": "One of these people is no longer a member. Choose again.",
        },
    )


class ReviewAskForm(forms.Form):
    """Reviewers, due date and note."""

    use_required_attribute = False

    reviewers = reviewers_field()
    due_on = forms.DateField(
        label="Due on",
        required=False,
        input_formats=["%Y-%m-%d"],
        error_messages=NO_DATE,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    note = forms.CharField(
        label="Note",
        required=False,
        strip=False,
        max_length=NOTE_CHARS,
        help_text=f"What to look at. At most {NOTE_CHARS:,} characters.",
        error_messages={"max_length": f"The note is longer than {NOTE_CHARS:,} characters."},
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
    )

    def __init__(self, *args: Any, project: Project, me: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _people_of(self).offer(list(members_of(project)), me)

    @property
    def people(self) -> list[User]:
        return _people_of(self).people(self.cleaned_data["reviewers"])

    def take_over(self, error: ValidationError) -> None:
        """Adds the service's errors to their fields."""
        self.add_error(None, error)


class ReviewRuleForm(forms.Form):
    """What the rule matches, and its reviewers."""

    use_required_attribute = False

    kind = forms.ChoiceField(
        label="Request a review of",
        choices=KINDS,
        widget=forms.RadioSelect,
        error_messages={"required": "Choose what the rule matches."},
    )
    rubric = forms.ChoiceField(
        label="Rubric",
        required=False,
        help_text="Empty: runs of all rubrics. Required for FAILs.",
        error_messages={"invalid_choice": "Rubric not found in this project."},
    )
    percent = forms.IntegerField(
        label="Percent of runs",
        required=False,
        min_value=1,
        max_value=100,
        help_text="For samples only, 1 to 100. 10 selects about every tenth run.",
        error_messages=dict.fromkeys(OUT_OF_RANGE, "Enter a percentage from 1 to 100."),
    )
    due_days = forms.IntegerField(
        label="Due after (days)",
        required=False,
        min_value=0,
        max_value=MOST_DUE_DAYS,
        help_text="Counted from the day the run finishes.",
        error_messages=dict.fromkeys(
            OUT_OF_RANGE, f"Enter 0 to {MOST_DUE_DAYS} days, or leave empty for no due date."
        ),
    )
    reviewers = reviewers_field()

    def __init__(self, *args: Any, project: Project, me: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _people_of(self).offer(list(members_of(project)), me)
        rows = Rubric.objects.filter(project=project, archived_at__isnull=True)[:MOST_RUBRICS]
        self.rubrics = {str(rubric.pk): rubric for rubric in rows}
        offered = [("", "Any rubric"), *((number, rubric.name) for number, rubric in self.rubrics.items())]
        field = self.fields["rubric"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = offered

    @property
    def values(self) -> dict[str, Any]:
        """The values for the service."""
        given = self.cleaned_data
        return {
            "kind": given["kind"],
            "rubric": self.rubrics.get(given["rubric"]),
            "percent": given["percent"],
            "due_days": given["due_days"],
            "reviewers": _people_of(self).people(given["reviewers"]),
        }


def _people_of(form: forms.Form) -> PeopleField:
    field = form.fields["reviewers"]
    assert isinstance(field, PeopleField)
    return field
