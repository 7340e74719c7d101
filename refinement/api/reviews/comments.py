"""Comment threads of a run."""

from datetime import datetime
from typing import Literal

from django.core.exceptions import ValidationError
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpResponse
from django.urls import reverse
from ninja import Field, Query, Router, Schema, Status

from refinement.access.objects import comment_or_404, reader_of, run_or_404, thread_or_404
from refinement.anchoring import MOST_QUOTE, Quotation
from refinement.api.core.auth import ApiRequest
from refinement.api.core.etags import IF_MATCH, etag, require_match, tagged
from refinement.api.core.idempotency import creates, made_at
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.models import Comment, CommentEdit, Run, Thread, ThreadPlace
from refinement.selectors.reviews.comments import comment_line
from refinement.services.reviews.comment_spots import Spot
from refinement.services.reviews.comments import (
    MOST_CHARS,
    comment_add,
    comment_delete,
    comment_edit,
    thread_open,
    thread_resolve,
)

router = Router(tags=["Comments"])
LARGEST_NUMBER = 2**31 - 1
Place = Literal["run", "round", "criterion", "issue", "asi", "passage"]
BODY = Field(
    max_length=MOST_CHARS * 2,
    description="Markdown; @name notifies a teammate.",
    examples=["Is this still so?"],
)


class ThreadNew(Schema):
    """A subject in the run, and the first comment."""

    place: Place = "run"
    round: int | None = Field(
        None, ge=1, le=LARGEST_NUMBER, description="Required unless the subject is the run."
    )
    criterion: str = Field(
        "", max_length=60, description="The criterion's key, if the subject is a criterion."
    )
    issue: int | None = Field(None, ge=1, le=LARGEST_NUMBER, description="Position in the list, from 1.")
    quote: str = Field(
        "", max_length=MOST_QUOTE * 2, description="A quote from the round's text, for a passage."
    )
    body: str = BODY


class CommentNew(Schema):
    """A new comment."""

    body: str = BODY


class ThreadShape(Schema):
    """A comment thread."""

    id: int
    place: str
    round: int | None
    criterion: str
    issue: int | None
    quote: str
    comments: int = Field(description="Number of comments, without deleted ones.")
    created_at: datetime
    resolved_at: datetime | None
    resolved_by: str | None


class CommentShape(Schema):
    """A comment; a deleted one has no text."""

    id: int
    thread: int
    author: str | None
    body: str
    mentioned: list[str]
    version: int
    created_at: datetime
    edited_at: datetime | None
    deleted_at: datetime | None


class ThreadMade(ThreadShape):
    """A new thread with its first comment."""

    first: CommentShape


class EarlierWords(Schema):
    """An earlier version of a comment."""

    version: int
    body: str
    replaced_at: datetime


class ThreadQuery(Paging):
    """Filters of threads."""

    resolved: bool | None = Field(None, description="Only resolved or only open threads.")
    round: int | None = Field(None, ge=1, le=LARGEST_NUMBER)


@router.get("/{int:run}/threads", response=Page[ThreadShape])
@member()
def thread_list(request: ApiRequest, run: int, query: Query[ThreadQuery]) -> Page[ThreadShape]:
    """List a run's threads. Newest first."""
    rows = threads_of(run_or_404(request, run, whole=False))
    if query.resolved is not None:
        rows = rows.filter(resolved_at__isnull=not query.resolved)
    if query.round is not None:
        rows = rows.filter(round_number=query.round)
    found, following = page_by_number(rows, query)
    return Page[ThreadShape](items=[thread_shape(row) for row in found], next=following)


@router.post("/{int:run}/threads", response={201: ThreadMade})
@member()
@creates()
def thread_new(request: ApiRequest, run: int, body: ThreadNew) -> ThreadMade:
    """Start a thread."""
    found = run_or_404(request, run)
    try:
        comment = thread_open(run=found, spot=spot_of(body), body=body.body, user=request.user)
    except ValidationError as wrong:
        raise named_as_here(wrong, body.place) from None
    thread = thread_in(found, comment.thread_id)
    made_at(request, thread_address(request, found, thread))
    return ThreadMade(**thread_shape(thread).model_dump(), first=comment_shape(comment))


@router.get("/{int:run}/threads/{int:thread}", response=ThreadShape)
@member()
def thread_read(request: ApiRequest, run: int, thread: int) -> ThreadShape:
    """Get a thread without its comments."""
    return thread_shape(thread_in(run_or_404(request, run, whole=False), thread))


@router.post("/{int:run}/threads/{int:thread}/resolve", response=ThreadShape)
@member()
def thread_resolved(request: ApiRequest, run: int, thread: int) -> ThreadShape:
    """Resolve a thread. 409 if it is already resolved."""
    return settled(request, run, thread, resolved=True)


@router.post("/{int:run}/threads/{int:thread}/reopen", response=ThreadShape)
@member()
def thread_reopened(request: ApiRequest, run: int, thread: int) -> ThreadShape:
    """Reopen a resolved thread."""
    return settled(request, run, thread, resolved=False)


def settled(request: ApiRequest, run: int, thread: int, *, resolved: bool) -> ThreadShape:
    found = run_or_404(request, run)
    thread_resolve(thread=thread_in(found, thread), user=request.user, resolved=resolved)
    return thread_shape(thread_in(found, thread))


@router.get("/{int:run}/threads/{int:thread}/comments", response=Page[CommentShape])
@member()
def comment_list(request: ApiRequest, run: int, thread: int, paging: Query[Paging]) -> Page[CommentShape]:
    """List a thread's comments. Oldest first."""
    row = thread_or_404(run_or_404(request, run, whole=False), thread)
    rows = Comment.objects.filter(thread=row).select_related("author").prefetch_related("mentioned")
    found, following = page_by_number(rows, paging, newest_first=False)
    return Page[CommentShape](items=[comment_shape(entry) for entry in found], next=following)


@router.post("/{int:run}/threads/{int:thread}/comments", response={201: CommentShape})
@member()
@creates()
def comment_new(request: ApiRequest, run: int, thread: int, body: CommentNew) -> CommentShape:
    """Reply in a thread. Notifies mentioned people and earlier authors."""
    row = thread_or_404(run_or_404(request, run), thread)
    comment = comment_add(thread=row, body=body.body, user=request.user)
    values = {"slug": request.project.slug, "run": run, "comment": comment.pk}
    made_at(request, reverse("api:comment_read", kwargs=values), comment_tag(comment))
    return comment_shape(comment)


@router.get("/{int:run}/comments/{int:comment}", response=CommentShape)
@member()
def comment_read(request: ApiRequest, response: HttpResponse, run: int, comment: int) -> CommentShape:
    """Get a comment. Returns an `ETag`."""
    found = comment_or_404(run_or_404(request, run, whole=False), comment)
    tagged(response, comment_tag(found))
    return comment_shape(found)


@router.patch("/{int:run}/comments/{int:comment}", response=CommentShape)
@member()
def comment_changed(
    request: ApiRequest,
    response: HttpResponse,
    run: int,
    comment: int,
    body: CommentNew,
    if_match: str = IF_MATCH,
) -> CommentShape:
    """Edit your own comment. Earlier versions are kept."""
    found = comment_or_404(run_or_404(request, run), comment)
    require_match(request, comment_tag(found))
    changed = comment_edit(comment=found, body=body.body, version=found.version, user=request.user)
    tagged(response, comment_tag(changed))
    return comment_shape(changed)


@router.delete("/{int:run}/comments/{int:comment}", response={204: None})
@member()
def comment_deleted(request: ApiRequest, run: int, comment: int) -> Status[None]:
    """Delete a comment. Your own; owners can delete any."""
    found = comment_or_404(run_or_404(request, run), comment)
    comment_delete(comment=found, user=request.user, is_owner=request.membership.is_owner)
    return Status(204, None)


@router.get("/{int:run}/comments/{int:comment}/history", response=Page[EarlierWords])
@member()
def comment_history(request: ApiRequest, run: int, comment: int, paging: Query[Paging]) -> Page[EarlierWords]:
    """List a comment's earlier versions.

    Newest first; for a deleted comment only for its author and owners.
    """
    found = comment_or_404(run_or_404(request, run, whole=False), comment)
    if not comment_line(found, reader_of(request)).may_see_history:
        raise Http404("This comment has no history you can see.")
    rows, following = page_by_number(CommentEdit.objects.filter(comment=found), paging)
    words = [EarlierWords(version=row.version, body=row.body, replaced_at=row.at) for row in rows]
    return Page[EarlierWords](items=words, next=following)


def spot_of(body: ThreadNew) -> Spot:
    return Spot(
        ThreadPlace(body.place),
        body.round,
        key=body.criterion,
        position=None if body.issue is None else body.issue - 1,
        quotation=Quotation(body.quote) if body.quote else None,
    )


def named_as_here(wrong: ValidationError, place: str) -> ValidationError:
    """Maps the form's field names to the API's."""
    field = {"criterion": "criterion", "issue": "issue"}.get(place, "round")
    said = wrong.message_dict
    return ValidationError({field if name == "about" else name: words for name, words in said.items()})


def threads_of(run: Run) -> QuerySet[Thread]:
    """Threads with at least one comment left; `count` is their number of comments."""
    alive = Comment.objects.filter(thread=OuterRef("pk"), deleted_at=None)
    count = Count("comments", filter=Q(comments__deleted_at=None))
    return Thread.objects.filter(Exists(alive), run=run).select_related("resolved_by").annotate(count=count)


def thread_in(run: Run, number: int) -> Thread:
    found = threads_of(run).filter(pk=number).first()
    if found is None:
        raise Http404("Thread not found in this run.")
    return found


def thread_shape(row: Thread) -> ThreadShape:
    return ThreadShape(
        id=row.pk,
        place=row.place,
        round=row.round_number,
        criterion=row.key,
        issue=None if row.position is None else row.position + 1,
        quote=row.quote,
        comments=row.count,  # type: ignore[attr-defined]
        created_at=row.created_at,
        resolved_at=row.resolved_at,
        resolved_by=row.resolved_by.display_name if row.resolved_by else None,
    )


def thread_address(request: ApiRequest, run: Run, row: Thread) -> str:
    values = {"slug": request.project.slug, "run": run.pk, "thread": row.pk}
    return reverse("api:thread_read", kwargs=values)


def comment_tag(row: Comment) -> str:
    return etag("comment", row.pk, row.version)


def comment_shape(row: Comment) -> CommentShape:
    name = row.author.display_name if row.author else row.author_name
    return CommentShape(
        id=row.pk,
        thread=row.thread_id,
        author=None if row.deleted_at else name,
        body=row.body,
        mentioned=[person.display_name for person in row.mentioned.all()],
        version=row.version,
        created_at=row.created_at,
        edited_at=row.edited_at,
        deleted_at=row.deleted_at,
    )
