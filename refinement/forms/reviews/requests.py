"""Forms about reviews: whom to ask about which runs, and rules that ask by themselves."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from refinement.models import Membership, Project, Rubric, RuleKind, User
from refinement.selectors.people.members import members_of
from refinement.services.reviews.requests import MOST_REVIEWERS, NOTE_CHARS
from refinement.services.reviews.rules import MOST_DUE_DAYS

NO_DATE = {"invalid": "Write a day such as 2026-03-31."}
OUT_OF_RANGE = ("invalid", "min_value", "max_value")
MOST_RUBRICS = 500
KINDS = [
    (RuleKind.FAILED.value, "Every FAIL of the rubric below"),
    (RuleKind.SIGNAL.value, "Every run with a Ralph signal"),
    (RuleKind.SAMPLE.value, "A sample of the runs that end"),
]


class PeopleField(forms.MultipleChoiceField):
    """Members of the project by their numbers; `people` gives them back as accounts."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, **kwargs: Any) -> None:
        self.members: dict[str, User] = {}
        super().__init__(**kwargs)

    def offer(self, memberships: Sequence[Membership], me: User) -> None:
        """Those who can sign in, oneself last: mostly somebody else is asked."""
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
        help_text=f"{MOST_REVIEWERS} people at most.",
        error_messages={
            "required": "Choose who is to review.",
            "invalid_choice": "One of these people is not a member any more; choose again.",
        },
    )


class ReviewAskForm(forms.Form):
    """Whom to ask, until when, and what to look at."""

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
        """What the service refused, beside the field it is about."""
        self.add_error(None, error)


class ReviewRuleForm(forms.Form):
    """What the rule looks for, and whom it asks."""

    use_required_attribute = False

    kind = forms.ChoiceField(
        label="Ask for a review of",
        choices=KINDS,
        widget=forms.RadioSelect,
        error_messages={"required": "Choose when the rule applies."},
    )
    rubric = forms.ChoiceField(
        label="Rubric",
        required=False,
        help_text="Leave it open to look at the runs of all rubrics; for FAILs, choose one.",
        error_messages={"invalid_choice": "There is no such rubric in this project."},
    )
    percent = forms.IntegerField(
        label="Percent of the runs",
        required=False,
        min_value=1,
        max_value=100,
        help_text="For a sample alone, 1 to 100: with 10, every tenth run or so.",
        error_messages=dict.fromkeys(OUT_OF_RANGE, "Say how many in a hundred: 1 to 100."),
    )
    due_days = forms.IntegerField(
        label="Days until it is due",
        required=False,
        min_value=0,
        max_value=MOST_DUE_DAYS,
        help_text="Counted from the day on which the run ends.",
        error_messages=dict.fromkeys(OUT_OF_RANGE, f"0 to {MOST_DUE_DAYS} days, or nothing for no date."),
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
        """As the service takes them."""
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
