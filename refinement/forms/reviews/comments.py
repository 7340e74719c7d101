"""Comment forms of a run."""

from django import forms
from django.http import QueryDict

from refinement.anchoring import AROUND, MOST_QUOTE, Quotation
from refinement.models import ThreadPlace
from refinement.selectors.runs.rounds import RoundFacts
from refinement.services.reviews.comment_spots import Spot
from refinement.services.reviews.comments import MOST_CHARS

BODY_HELP = f"Markdown, at most {MOST_CHARS:,} characters. Use @name to notify a teammate."
QUOTE_HELP = f"An exact quote from the text, at most {MOST_QUOTE:,} characters."
TOO_LONG = f"At most {MOST_CHARS:,} characters. Shorten the comment."


def body_field(label: str) -> forms.CharField:
    field = forms.CharField(
        label=label,
        max_length=MOST_CHARS,
        strip=True,
        help_text=BODY_HELP,
        error_messages={"required": "Enter a comment.", "max_length": TOO_LONG},
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto", "data-mentions": ""}),
    )
    return untruncated(field)


def untruncated(field: forms.CharField) -> forms.CharField:
    """Removes `maxlength`, with which browsers silently cut pasted text; the form reports it instead."""
    field.widget.attrs.pop("maxlength", None)
    return field


def context_field() -> forms.CharField:
    """The text around a quoted passage, sent by script."""
    return forms.CharField(required=False, max_length=AROUND * 4, strip=False)


class ReplyForm(forms.Form):
    """A reply in a thread."""

    body = body_field("Reply")


class EditForm(forms.Form):
    """An edit of one's own comment; `version` is the version it started from."""

    body = body_field("Your comment")
    version = forms.IntegerField(min_value=1, max_value=10**6, widget=forms.HiddenInput)


class ThreadForm(forms.Form):
    """A new thread: its subject and the first comment."""

    about = forms.ChoiceField(label="About", error_messages={"required": "Choose a subject."})
    quote = untruncated(
        forms.CharField(
            label="Passage",
            required=False,
            max_length=MOST_QUOTE,
            strip=True,
            help_text=QUOTE_HELP,
            error_messages={"max_length": f"Quote at most {MOST_QUOTE:,} characters."},
            widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
        )
    )
    before = context_field()
    after = context_field()
    body = body_field("Comment")

    def __init__(
        self, data: QueryDict | None, *, number: int | None, choices: list[tuple[str, str]], about: str = ""
    ) -> None:
        super().__init__(data, auto_id="thread-%s", initial={"about": about})
        self.number = number
        about = choices[0][1].lower() if number is not None else "this run"
        self.fields["body"].widget.attrs |= {
            "rows": 1,
            "placeholder": f"Comment on {about}, @ to mention",
        }
        places = self.fields["about"]
        assert isinstance(places, forms.ChoiceField)
        places.choices = choices

    @property
    def spot(self) -> Spot:
        """The chosen subject; quoted text makes it a passage."""
        given = self.cleaned_data
        place, _, rest = given["about"].partition(":")
        if given["quote"] and self.number is not None:
            quotation = Quotation(given["quote"], given["before"], given["after"])
            return Spot(ThreadPlace.PASSAGE, self.number, quotation=quotation)
        if place == ThreadPlace.CRITERION:
            return Spot(ThreadPlace.CRITERION, self.number, key=rest)
        if place == ThreadPlace.ISSUE:
            return Spot(ThreadPlace.ISSUE, self.number, position=int(rest))
        return Spot(ThreadPlace(place), self.number)


def places_of(found: RoundFacts | None) -> list[tuple[str, str]]:
    """Possible subjects of a thread on this round, in page order."""
    if found is None:
        return [("run", "The run")]
    issues = [(f"issue:{place}", f"Issue {place + 1}") for place in range(len(found.issues))]
    return [
        ("round", found.name),
        ("passage", "A passage of the text"),
        *((f"criterion:{line.key}", line.name) for line in found.scores),
        *([("asi", "The suggested change")] if found.asi else []),
        *issues,
        ("run", "The run as a whole"),
    ]
