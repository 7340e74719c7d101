"""What became of feedback, and who wrote each passage."""

from datetime import datetime
from typing import Literal

from django.http import Http404
from ninja import Field, Router, Schema

from refinement.access.objects import run_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.permissions import member
from refinement.engine.codec import rubric_from_json
from refinement.models import Run
from refinement.selectors.runs.ledger import LedgerLine, item_texts, ledger_of
from refinement.selectors.runs.texts.blame import BlamedPassage, round_blame
from refinement.services.reviews.blind_readings import scores_seen_record
from refinement.services.runs.ledger import feedback_correct

router = Router(tags=["Rounds"])
MOST_POSITION = 10_000
LARGEST_NUMBER = 2**31 - 1
Kind = Literal["issue", "suggestion", "improvement"]
Fate = Literal["addressed", "open", "came_back", "worse", "overtaken"]


class FeedbackShape(Schema):
    """A piece of feedback that a revision got, and whether it was addressed."""

    round: int = Field(description="The round whose judge gave it.", examples=[1])
    kind: str = Field(description="issue, suggestion or improvement.", examples=["issue"])
    position: int = Field(description="Among the verdict's entries of this kind, from 0.", examples=[0])
    text: str = Field(examples=["The restore is not explained."])
    criterion: str = Field(description="The criterion that an improvement is about; else empty.")
    fate: str = Field(
        description="addressed, open, came_back, worse or overtaken; empty until the revision is judged.",
        examples=["addressed"],
    )
    why: str = Field(description="The evidence for what the code concludes.")
    revision: int = Field(description="The round that was written with it.", examples=[2])
    raised: bool | None = Field(description="Whether that round scored higher. Null if that is not known.")
    computed: str = Field(description="What the code concludes. A correction replaces it in `fate`.")
    corrected_by: str = Field(description="Who corrected it; else empty.")
    corrected_at: datetime | None
    version: str = Field(description="Send it with a correction.", examples=["0"])


class FeedbackList(Schema):
    """A run's feedback, in order."""

    items: list[FeedbackShape]


class Correction(Schema):
    """A person's correction of whether feedback was addressed."""

    round: int = Field(ge=1, le=LARGEST_NUMBER, examples=[1])
    kind: Kind
    position: int = Field(0, ge=0, le=MOST_POSITION)
    fate: Fate | None = Field(description="Null removes a correction.", examples=["addressed"])
    version: str = Field("0", max_length=40, description="The version that you have seen.")


class PassageShape(Schema):
    """A passage of a round's text with the round that wrote it."""

    text: str
    round: int
    author: str = Field(description="The person who edited that round by hand; else empty.")
    asked_by: str | None = Field(description="The feedback that asked for it, by wording. Null if none did.")
    asked: str = Field(description="Its words; else empty.")


class BlameShape(Schema):
    """Who wrote each passage of a round's text."""

    passages: list[PassageShape]
    cut: bool = Field(description="The texts are too long to follow back: it is all one passage.")
    missing: int = Field(description="Characters not included.")


@router.get("/{int:run}/feedback", response=FeedbackList)
@member()
def feedback_list(request: ApiRequest, run: int) -> FeedbackList:
    """List a run's feedback and whether it was addressed. Only feedback that a revision got, in order."""
    found = run_or_404(request, run)
    scores_seen_record(runs=[found], user=request.user)
    return FeedbackList(items=feedback_shapes(found))


@router.put("/{int:run}/feedback", response=FeedbackShape)
@member("editor")
def feedback_corrected(request: ApiRequest, run: int, body: Correction) -> FeedbackShape:
    """Correct whether feedback was addressed. 409 if somebody else corrected it since."""
    found = run_or_404(request, run)
    feedback_correct(
        run=found, number=body.round, kind=body.kind, position=body.position, fate=body.fate or "",
        version=body.version, user=request.user,
    )  # fmt: skip
    key = (body.round, body.kind, body.position)
    return next(shape for shape in feedback_shapes(found) if (shape.round, shape.kind, shape.position) == key)


@router.get("/{int:run}/rounds/{int:number}/blame", response=BlameShape)
@member()
def round_blamed(request: ApiRequest, run: int, number: int) -> BlameShape:
    """Get the blame of a round's text: which round wrote each passage, and the feedback that asked for it."""
    found = run_or_404(request, run)
    blame = round_blame(found, rubric_from_json(found.snapshot), number)
    if blame is None:
        raise Http404("Round not found in this run.")
    passages = [passage_shape(passage) for passage in blame.passages]
    return BlameShape(passages=passages, cut=blame.cut, missing=blame.missing)


def feedback_shapes(run: Run) -> list[FeedbackShape]:
    texts = item_texts(run)
    lines = ledger_of(run, rubric_from_json(run.snapshot)).lines
    return [feedback_shape(line, *texts.get(key, ("", ""))) for key, line in lines.items()]


SAME = tuple(name for name in FeedbackShape.model_fields if name not in ("text", "criterion"))


def feedback_shape(line: LedgerLine, text: str, criterion: str) -> FeedbackShape:
    return FeedbackShape(text=text, criterion=criterion, **{name: getattr(line, name) for name in SAME})


def passage_shape(passage: BlamedPassage) -> PassageShape:
    return PassageShape(
        text=passage.text,
        round=passage.round,
        author=passage.author,
        asked_by=passage.asked.label if passage.asked else None,
        asked=passage.asked.text if passage.asked else "",
    )
