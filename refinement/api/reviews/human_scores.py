"""Human scores of a round, open or blind. Blind reviewers get nothing else of a run."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from ninja import Field, Query, Router, Schema, Status
from pydantic import StringConstraints

from refinement.access.objects import must_read_blind, own_score, round_or_404, run_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.etags import IF_MATCH, changed_meanwhile, etag, require_match, tagged
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.api.core.problems import Refused
from refinement.engine.codec import rubric_from_json
from refinement.judging.schema import plain, scale_in_words
from refinement.models import HumanScore, Round, Run
from refinement.selectors.projects.lists import NotFound
from refinement.services.reviews.blind_readings import ScoresSeen, blind_reading_begin, blind_reading_give_up
from refinement.services.reviews.human_scores import (
    NOTE_CHARS,
    REASON,
    REASON_CHARS,
    SCORE,
    Reading,
    ScoreConflict,
    human_score_give,
)

router = Router(tags=["Human scores"])
LARGEST_NUMBER = 2**31 - 1
MOST_CRITERIA = 200
BEGIN_FIRST = (
    "This project scores blind. Start with PUT …/blind-reading, which returns the text without scores."
)
# As a string, so nothing is rounded; JSON numbers are read exactly as written.
Number = Annotated[str, StringConstraints(max_length=20, pattern=r"^-?\d{1,9}(\.\d{1,6})?$")]


class CriterionScore(Schema):
    """A score on the rubric's scale, and a reason."""

    criterion: str = Field(max_length=60, description="The criterion's key.", examples=["depth"])
    score: Number = Field(examples=["7.5"])
    reason: str = Field("", max_length=REASON_CHARS * 2)


class CriterionGiven(Schema):
    """A person's score of a criterion, and the reason."""

    criterion: str
    score: str
    reason: str


class ScoreNew(Schema):
    """A score for every criterion."""

    scores: list[CriterionScore] = Field(max_length=MOST_CRITERIA)
    note: str = Field("", max_length=NOTE_CHARS * 2)
    go_on_at: int | None = Field(
        None, ge=1, le=LARGEST_NUMBER, description="While scoring blind: the round to continue with."
    )


class ScoreShape(Schema):
    """One person's scores of a round."""

    id: int
    round: int
    author: str
    mine: bool
    blind: bool = Field(description="Whether no other scores were visible.")
    composite: str
    scores: list[CriterionGiven]
    note: str
    version: int
    submitted_at: datetime
    changed_at: datetime | None


class BlindNew(Schema):
    """The round to start or continue with."""

    round: int = Field(ge=1, le=LARGEST_NUMBER)


class CriterionToScore(Schema):
    """A criterion to score."""

    key: str
    name: str
    description: str


class BlindShape(Schema):
    """What a blind reviewer sees of a run: the task, the round's text and the criteria."""

    run: int
    round: int
    rounds: list[int] = Field(description="All rounds.")
    scored: list[int] = Field(description="The rounds you have scored.")
    task: str
    candidate: str
    scale: str
    criteria: list[CriterionToScore]


@router.get("/{int:run}/rounds/{int:number}/scores", response=Page[ScoreShape])
@member()
def score_list(request: ApiRequest, run: int, number: int, paging: Query[Paging]) -> Page[ScoreShape]:
    """List human scores of a round. Oldest first."""
    row = round_or_404(run_or_404(request, run, whole=False), number)
    rows, following = page_by_number(HumanScore.objects.filter(round=row), paging, newest_first=False)
    items = [score_shape(request, row, entry) for entry in rows]
    return Page[ScoreShape](items=items, next=following)


@router.get("/{int:run}/rounds/{int:number}/scores/mine", response=ScoreShape)
@member()
def score_read(request: ApiRequest, response: HttpResponse, run: int, number: int) -> ScoreShape:
    """Get your own score of a round. Returns an `ETag`; works while you score the run blind."""
    row = round_or_404(run_or_404(request, run, whole=False, blind=True), number)
    kept = own_score(request, row)
    if kept is None:
        raise NotFound("You have not scored this round.")
    tagged(response, score_tag(row, kept))
    return score_shape(request, row, kept)


@router.put("/{int:run}/rounds/{int:number}/scores/mine", response=ScoreShape)
@member()
def score_given(
    request: ApiRequest,
    response: HttpResponse,
    run: int,
    number: int,
    body: ScoreNew,
    if_match: str = IF_MATCH,
) -> ScoreShape:
    """Score a round, or change your score. A change requires `If-Match`.

    Ends blind scoring, unless `go_on_at` names the round to continue with.
    """
    found = run_or_404(request, run, blind=True)
    row = round_or_404(found, number)
    if must_read_blind(request, found):
        raise Refused(409, BEGIN_FIRST, "blind_first")
    before = own_score(request, row)
    if before is not None:
        require_match(request, score_tag(row, before))
    kept = given(request, found, row, body, before)
    tagged(response, score_tag(row, kept))
    return score_shape(request, row, kept)


def given(request: ApiRequest, run: Run, row: Round, body: ScoreNew, before: HumanScore | None) -> HumanScore:
    onward = body.go_on_at if run.pk in request.blind_runs else None
    if onward is not None:
        round_or_404(run, onward)
    try:
        return human_score_give(
            run=run,
            row=row,
            user=request.user,
            submitted=reading_of(run, body),
            seen_version=before.version if before else 0,
            blind_next=onward,
        )
    except ScoreConflict as meanwhile:
        raise changed_meanwhile(score_tag(row, meanwhile.stored)) from None
    except ValidationError as wrong:
        raise ValidationError(
            {named_as_here(name): words for name, words in wrong.message_dict.items()}
        ) from None


def reading_of(run: Run, body: ScoreNew) -> Reading:
    """The scores by criterion; raises 422 for unknown or repeated keys."""
    keys = [entry.criterion for entry in body.scores]
    known = {criterion.key for criterion in rubric_from_json(run.snapshot).criteria}
    for key in keys:
        if key not in known:
            raise ValidationError({f"scores.{key}": "The run's rubric has no such criterion."})
        if keys.count(key) > 1:
            raise ValidationError({f"scores.{key}": "Score each criterion once."})
    return Reading(
        scores={entry.criterion: Decimal(entry.score) for entry in body.scores},
        reasons={entry.criterion: entry.reason for entry in body.scores},
        note=body.note,
    )


def named_as_here(name: str) -> str:
    """Maps the form's field names to the API's."""
    for prefix in (SCORE, REASON):
        if name.startswith(prefix):
            return f"scores.{name.removeprefix(prefix)}"
    return name


@router.put("/{int:run}/blind-reading", response=BlindShape)
@member()
def blind_begun(request: ApiRequest, run: int, body: BlindNew) -> BlindShape:
    """Start scoring a run blind, or continue at another round.

    Hides the run's scores from you everywhere, until you score or end blind scoring. 409 if you have
    already seen scores of the run.
    """
    found = run_or_404(request, run, blind=True)
    row = round_or_404(found, body.round)
    try:
        blind_reading_begin(run=found, number=row.number, user=request.user)
    except ScoresSeen as seen:
        raise Refused(409, str(seen), "scores_seen") from None
    return blind_shape(request, found, row)


@router.get("/{int:run}/blind-reading", response=BlindShape)
@member()
def blind_read(request: ApiRequest, run: int) -> BlindShape:
    """Get the text and criteria of a run you are scoring blind."""
    found = run_or_404(request, run, blind=True)
    if found.pk not in request.blind_runs:
        raise NotFound("You are not scoring this run blind.")
    return blind_shape(request, found, round_or_404(found, request.blind_runs[found.pk]))


@router.delete("/{int:run}/blind-reading", response={204: None})
@member()
def blind_given_up(request: ApiRequest, run: int) -> Status[None]:
    """End blind scoring. Shows you the scores; your later scores are not blind."""
    found = run_or_404(request, run, whole=False, blind=True)
    if not blind_reading_give_up(run=found, user=request.user):
        raise NotFound("You are not scoring this run blind.")
    return Status(204, None)


def blind_shape(request: ApiRequest, run: Run, row: Round) -> BlindShape:
    rubric = rubric_from_json(run.snapshot)
    mine = HumanScore.objects.filter(run=run, author=request.user)
    return BlindShape(
        run=run.pk,
        round=row.number,
        rounds=list(run.rounds.order_by("number").values_list("number", flat=True)),
        scored=list(mine.order_by("round__number").values_list("round__number", flat=True)),
        task=run.task,
        candidate=row.candidate,
        scale=scale_in_words(rubric.scale),
        criteria=[
            CriterionToScore(key=entry.key, name=entry.name, description=entry.description)
            for entry in rubric.criteria
        ],
    )


def score_tag(row: Round, kept: HumanScore) -> str:
    return etag("score", row.pk, kept.pk, kept.version)


def score_shape(request: ApiRequest, row: Round, kept: HumanScore) -> ScoreShape:
    return ScoreShape(
        id=kept.pk,
        round=row.number,
        author=kept.author_name,
        mine=kept.author_id == request.user.pk,
        blind=kept.blind,
        composite=plain(kept.composite),
        scores=[
            CriterionGiven(criterion=entry["key"], score=entry["score"], reason=entry["reason"])
            for entry in kept.scores
        ],
        note=kept.note,
        version=kept.version,
        submitted_at=kept.submitted_at,
        changed_at=kept.changed_at,
    )
