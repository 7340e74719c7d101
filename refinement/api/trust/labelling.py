"""Labelling: your queue, your labels, and labels that were wrong."""

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from ninja import Router, Status

from refinement.access.labelling import (
    label_item_or_404,
    label_or_404,
    label_set_or_404,
    scored_set_or_404,
)
from refinement.api.core.auth import ApiRequest
from refinement.api.core.etags import IF_MATCH, changed_meanwhile, require_match, tagged
from refinement.api.core.permissions import member
from refinement.api.core.problems import Refused
from refinement.api.trust.label_shapes import (
    LabelNew,
    LabelShape,
    QueueCriterion,
    QueueShape,
    WrongNew,
    decimal_scores,
    label_shape,
    label_tag,
)
from refinement.judging.schema import scale_in_words
from refinement.models import Label, LabelItem, LabelRater, LabelSet
from refinement.selectors.projects.lists import NotFound
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.trust.label_queue import Progress, next_item, progress_of
from refinement.services.reviews.human_scores import REASON, SCORE, Reading
from refinement.services.trust.labelling import (
    LabelConflict,
    label_give,
    label_wrong_mark,
    queue_leave,
    queue_open,
)

router = Router(tags=["Label sets"])


@router.put("/label-sets/{int:label_set}/queue", response=QueueShape)
@member()
def label_queue_opened(request: ApiRequest, label_set: int) -> QueueShape:
    """Open your queue. Hides scores of its texts from you everywhere, until all are labelled or you leave."""
    row = label_set_or_404(request, label_set)
    return queue_shape(row, queue_open(label_set=row, user=request.user))


@router.get("/label-sets/{int:label_set}/queue", response=QueueShape)
@member()
def label_queue_read(request: ApiRequest, label_set: int) -> QueueShape:
    """Get the next text of your queue."""
    row = label_set_or_404(request, label_set)
    return queue_shape(row, LabelRater.objects.filter(label_set=row, user=request.user).first())


@router.delete("/label-sets/{int:label_set}/queue", response={204: None})
@member()
def label_queue_left(request: ApiRequest, label_set: int) -> Status[None]:
    """Leave your queue. Shows you the scores; if texts are left, your later labels are not blind."""
    row = label_set_or_404(request, label_set)
    if not queue_leave(label_set=row, user=request.user):
        raise NotFound("You have no open queue in this label set.")
    return Status(204, None)


@router.get("/label-sets/{int:label_set}/texts/{int:position}/labels/mine", response=LabelShape)
@member()
def label_read(request: ApiRequest, response: HttpResponse, label_set: int, position: int) -> LabelShape:
    """Get your own label of a text. Returns an `ETag`."""
    item = label_item_or_404(label_set_or_404(request, label_set), position)
    kept = own_label(request, item)
    if kept is None:
        raise NotFound("You have not labelled this text.")
    tagged(response, label_tag(kept))
    return label_shape(kept, item)


@router.put("/label-sets/{int:label_set}/texts/{int:position}/labels/mine", response=LabelShape)
@member()
def label_given(
    request: ApiRequest,
    response: HttpResponse,
    label_set: int,
    position: int,
    body: LabelNew,
    if_match: str = IF_MATCH,
) -> LabelShape:
    """Label a text, or change your label. Open your queue first. A change requires `If-Match`."""
    row = label_set_or_404(request, label_set)
    item = label_item_or_404(row, position)
    before = own_label(request, item)
    if before is not None:
        require_match(request, label_tag(before))
    elif not any(queue.label_set == row.pk for queue in request.label_queues):
        raise Refused(409, "Open your queue first: PUT …/queue.", "queue_first")
    kept = saved(request, row, item, body, before)
    tagged(response, label_tag(kept))
    return label_shape(kept, item)


def saved(request: ApiRequest, row: LabelSet, item: LabelItem, body: LabelNew, before: Label | None) -> Label:
    definition = definition_of(row.rubric_version)
    known = {criterion.key for criterion in definition.criteria}
    keys = [entry.criterion for entry in body.scores]
    for key in keys:
        if key not in known:
            raise ValidationError({f"scores.{key}": "The set's rubric has no such criterion."})
        if keys.count(key) > 1:
            raise ValidationError({f"scores.{key}": "Score each criterion once."})
    reasons = {entry.criterion: entry.reason for entry in body.scores}
    try:
        return label_give(
            item=item,
            user=request.user,
            definition=definition,
            submitted=Reading(decimal_scores(body), reasons, body.note),
            seen_version=before.version if before else 0,
        )
    except LabelConflict as meanwhile:
        raise changed_meanwhile(label_tag(meanwhile.stored)) from None
    except ValidationError as wrong:
        if not hasattr(wrong, "error_dict"):
            raise
        raise ValidationError(
            {named_as_here(name): words for name, words in wrong.message_dict.items()}
        ) from None


def named_as_here(name: str) -> str:
    """Maps the form's field names to the API's."""
    for prefix in (SCORE, REASON):
        if name.startswith(prefix):
            return f"scores.{name.removeprefix(prefix)}"
    return name


def own_label(request: ApiRequest, item: LabelItem) -> Label | None:
    return Label.objects.select_related("rater").filter(item=item, rater__user=request.user).first()


@router.put("/label-sets/{int:label_set}/texts/{int:position}/labels/{int:label}/wrong", response=LabelShape)
@member("editor")
def label_marked_wrong(
    request: ApiRequest, label_set: int, position: int, label: int, body: WrongNew
) -> LabelShape:
    """Mark scores of a label as wrong. They no longer count."""
    item = label_item_or_404(scored_set_or_404(request, label_set), position)
    found = label_or_404(item, label)
    label_wrong_mark(label=found, criteria=body.criteria, user=request.user)
    return label_shape(label_or_404(item, label), item)


def queue_shape(row: LabelSet, rater: LabelRater | None) -> QueueShape:
    rubric = definition_of(row.rubric_version)
    is_open = rater is not None and rater.opened_at is not None
    item = next_item(row, rater) if rater is not None and is_open else None
    progress = progress_of(row, rater) if rater is not None else Progress(0, 0)
    return QueueShape(
        open=is_open,
        labelled=progress.labelled,
        waiting=progress.waiting,
        position=item.position if item else None,
        text=item.text if item else "",
        task=item.task if item else "",
        note=row.note,
        scale=scale_in_words(rubric.scale),
        criteria=[
            QueueCriterion(key=entry.key, name=entry.name, description=entry.description, ideal=entry.ideal)
            for entry in rubric.criteria
        ],
    )
