"""Filters of the run list, from the query string."""

from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.http import urlencode

from refinement.engine.safeguards import Kinship
from refinement.engine.types import Outcome
from refinement.models import DecisionKind, Project, RunSource, RunStatus, User
from refinement.selectors.runs.listing.filter_options import RunOptions
from refinement.selectors.runs.listing.filters import ANY_IMPORTED, DISAGREE, MINE, UNDER_WAY, RunFilters
from refinement.selectors.runs.listing.orders import NEWEST, ORDERS, Order
from refinement.selectors.runs.words import REASON_LABELS, outcome_choice
from refinement.texts import label

WORDS_CHARS = 200
ANY = ("", "Any")
KINSHIPS = [(Kinship.SAME_MODEL.value, "Same model"), (Kinship.SAME_FAMILY.value, "Same family")]
MARKS = [
    ("signal", "A failed judge check"),
    ("penalty", "A penalty"),
    ("cut", "Judge saw only a part"),
]
SORTS = [
    choice
    for order in ORDERS.values()
    for choice in ((order.name, order.words), (f"-{order.name}", order.upwards))
]
# Profiles have reasons of their own for the same thing: one choice finds both.
SAME_REASON = {"quality_threshold_met": "passed", "max_iterations_reached": "max_rounds"}
REASON_CHOICES = {**REASON_LABELS, "passed": "pass mark reached"}
REASONS = sorted(
    (
        (key, f"{words[:1].upper()}{words[1:]}")
        for key, words in REASON_CHOICES.items()
        if key not in SAME_REASON
    ),
    key=lambda choice: choice[1],
)
IN_PROGRESS = "active"
STATUSES = [(IN_PROGRESS, "In progress"), *RunStatus.choices]
DECISIONS = [
    (DecisionKind.APPROVED.value, "Approved"),
    (DecisionKind.RESULT.value, "Different result"),
    (DecisionKind.CHANGES.value, "Changes requested"),
    (DecisionKind.REJECTED.value, "Rejected"),
]
IMPORTED = [(ANY_IMPORTED, "Any import"), *RunSource.choices[:-1]]
OWN, OF_EXPERIMENTS = "own", "experiments"
ORIGINS = [(OWN, "Without experiments"), (OF_EXPERIMENTS, "Only of experiments")]
REVIEWS = [(MINE, "Waiting for me")]
PEOPLE = [(DISAGREE, "Disagree with the judge")]
CHOSEN = (
    *("outcome", "status", "decision", "review", "people", "rubric", "tag", "person", "task_type"),
    *("producer", "judge", "reason", "kinship", "mark", "imported", "suite", "experiment", "origin"),
)
OFFERED = ("rubric", "producer", "judge", "person", "task_type", "tag", "suite", "experiment")
RANGES = (
    ("Launched", "since", "until"),
    ("First score", "r1_min", "r1_max"),
    ("Best score", "best_min", "best_max"),
)
NO_NUMBER = {
    "invalid": "Enter a number such as 7.5.",
    "max_digits": "Enter a number such as 7.5.",
    "max_decimal_places": "At most six decimals.",
    "max_whole_digits": "Enter a number such as 7.5.",
}
NO_DATE = {"invalid": "Enter a date such as 2026-03-31."}


def one_of(label: str, choices: list[tuple[str, str]], empty: str = "Any") -> forms.ChoiceField:
    messages = {"invalid_choice": f"{label} cannot be “%(value)s”; choose one from the list."}
    return forms.ChoiceField(
        label=label,
        required=False,
        choices=[("", empty), *choices],
        error_messages=messages,
        widget=forms.Select,
    )


def offered(label: str) -> forms.CharField:
    """A choice among the runs' values; the query string may have one that is no longer listed."""
    return forms.CharField(label=label, required=False, max_length=400, widget=forms.Select)


def score(label: str) -> forms.DecimalField:
    control = forms.NumberInput({"step": "any", "inputmode": "decimal"})
    return forms.DecimalField(
        label=label, required=False, max_digits=14, decimal_places=6, error_messages=NO_NUMBER, widget=control
    )


def day(label: str) -> forms.DateField:
    return forms.DateField(
        label=label,
        required=False,
        input_formats=["%Y-%m-%d"],
        error_messages=NO_DATE,
        widget=forms.DateInput({"type": "date"}),
    )


@dataclass(frozen=True, slots=True)
class Chip:
    """An active filter, and the query string without it."""

    label: str
    value: str
    without: str


@dataclass(frozen=True, slots=True)
class Control:
    """A field of the filter panel, as plain values: rendering Django's widgets took longer than the list."""

    name: str
    label: str
    value: str
    errors: list[str]
    choices: list[tuple[str, str]] = field(default_factory=list)  # of a select
    type: str = "text"  # of an input


class RunFilterForm(forms.Form):
    """All filters are optional. Invalid values are reported at their field and ignored."""

    q = forms.CharField(label="Search", required=False, max_length=WORDS_CHARS)
    outcome = one_of("Outcome", [(entry.value, outcome_choice(entry.value)) for entry in Outcome])
    reason = one_of("Stop reason", REASONS)
    status = one_of("Status", STATUSES)
    decision = one_of("Decision", DECISIONS)
    review = one_of("Review", REVIEWS)
    people = one_of("People", PEOPLE)
    rubric = offered("Rubric")
    producer = offered("Writer")
    judge = offered("Judge")
    person = forms.IntegerField(
        label="Launched by",
        required=False,
        min_value=1,
        max_value=2**53,
        widget=forms.Select,
        error_messages={"invalid": "Choose a user from the list."},
    )
    task_type = offered("Task type")
    tag = offered("Tag")
    kinship = one_of("Writer and judge", KINSHIPS)
    mark = one_of("A round with", MARKS)
    imported = one_of("Imported", IMPORTED)
    suite = offered("Suite")
    experiment = forms.IntegerField(
        label="Experiment",
        required=False,
        min_value=1,
        max_value=2**53,
        widget=forms.Select,
        error_messages={"invalid": "Choose an experiment from the list."},
    )
    origin = one_of("Runs", ORIGINS)
    since = day("Launched from")
    until = day("Launched until")
    r1_min = score("First score from")
    r1_max = score("First score to")
    best_min = score("Best score from")
    best_max = score("Best score to")
    archived = forms.BooleanField(label="Archived runs", required=False)
    sort = one_of("Order", SORTS[1:], empty="Newest first")

    def __init__(
        self,
        data: QueryDict,
        project: Project,
        options: RunOptions | None = None,
        *,
        user: User | None = None,
    ) -> None:
        given = {name: data.get(name, "") for name in self.base_fields}
        if given["sort"] == NEWEST.name:
            given["sort"] = ""  # the default order is not in the URL
        given["reason"] = SAME_REASON.get(given["reason"], given["reason"])
        given["task_type"] = label(given["task_type"])  # as it is stored
        super().__init__(given, auto_id="filter-%s")
        self.project, self.user = project, user
        for name in OFFERED if options else ():
            self._offer(name, getattr(options, name))
        self.is_valid()

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        chosen = self.data[name]
        missing = [(chosen, chosen)] if chosen and chosen not in dict(choices) else []
        widget = self.fields[name].widget
        assert isinstance(widget, forms.Select)
        widget.choices = [ANY, *choices, *missing]

    def clean_q(self) -> str:
        return str(self.cleaned_data["q"]).replace("\x00", " ").strip()

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        for _, low, high in RANGES:
            first, last = cleaned.get(low), cleaned.get(high)
            if first is not None and last is not None and first > last:
                self.add_error(high, "The start must be before the end.")
        return cleaned

    @property
    def filters(self) -> RunFilters:
        """The valid filters."""
        given = {
            name: value
            for name, value in self.cleaned_data.items()
            if name not in ("q", "sort", "review", "origin") and value not in ("", None)
        }
        if self.user is not None:
            given["reader"] = self.user.pk
            if self.cleaned_data.get("review"):
                given["reviewer"] = self.user.pk
        if origin := self.cleaned_data.get("origin"):
            given["of_experiments"] = origin == OF_EXPERIMENTS
        if given.get("status") == IN_PROGRESS:
            given["status"] = UNDER_WAY
        if reason := given.get("reason"):
            given["reason"] = (reason, *(other for other, same in SAME_REASON.items() if same == reason))
        return RunFilters(words=self.cleaned_data.get("q", ""), **given)

    @property
    def order(self) -> Order:
        return ORDERS.get(self.cleaned_data.get("sort", "").removeprefix("-"), NEWEST)

    @property
    def upwards(self) -> bool:
        return str(self.cleaned_data.get("sort", "")).startswith("-")

    def query(self, *, without: str = "", **more: str) -> str:
        """The valid filters as a query string, in a fixed order."""
        kept = {
            name: self.data[name]
            for name in self.fields
            if name != without and self.cleaned_data.get(name) not in ("", None, False)
        }
        return urlencode({**kept, **more})

    @property
    def selects(self) -> list[Control]:
        """The panel's choice fields."""
        return [self._control(name) for name in CHOSEN]

    @property
    def ranges(self) -> list[tuple[str, tuple[Control, Control]]]:
        """Each range's label and its two ends."""
        return [(words, (self._control(low), self._control(high))) for words, low, high in RANGES]

    def _control(self, name: str) -> Control:
        """The field as it was filled in; a wrong value stays in it."""
        widget = self.fields[name].widget
        return Control(
            name=name,
            label=str(self.fields[name].label),
            value=str(self.data[name]),
            errors=[str(error) for error in self.errors.get(name, ())],
            choices=list(getattr(widget, "choices", ())),
            type="date" if isinstance(widget, forms.DateInput) else "number",
        )

    @property
    def chips(self) -> list[Chip]:
        """A chip per active filter."""
        return [
            Chip(*self._words(name), self.query(without=name))
            for name in self.fields
            if name != "sort" and self.cleaned_data.get(name) not in ("", None, False)
        ]

    def _words(self, name: str) -> tuple[str, str]:
        value, label = self.data[name], str(self.fields[name].label)
        if name == "archived":
            return "Archive", "shown"
        choices = dict(getattr(self.fields[name].widget, "choices", ()))
        return label, str(choices.get(value, value))


class ViewNameForm(forms.Form):
    """The name of a saved view, and who sees it."""

    name = forms.CharField(
        label="View name",
        max_length=80,
        error_messages={"required": "Enter a name."},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    shared = forms.BooleanField(label="Share with the project", required=False)
