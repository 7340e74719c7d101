"""The current user's notifications in a project."""

from datetime import datetime

from ninja import Field, Query, Router, Schema

from refinement.api.core.auth import ApiRequest
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.models import Notice
from refinement.selectors.projects.lists import NotFound
from refinement.selectors.reviews.notices import notice_line, notices_of
from refinement.services.notices.reading import notice_read

router = Router(tags=["Notices"])


class NoticeQuery(Paging):
    """Filters of notices."""

    unread: bool = Field(False, description="Unread only.")


class NoticeShape(Schema):
    """A notification."""

    id: int
    kind: str
    text: str
    excerpt: str = Field(description="The start of the comment.")
    run: int | None = Field(description="Null if it is about an experiment.")
    experiment: int | None
    comment: int | None
    created_at: datetime
    read_at: datetime | None


class NoticeRead(Schema):
    """The read state."""

    read: bool = True


@router.get("", response=Page[NoticeShape])
@member()
def notice_list(request: ApiRequest, query: Query[NoticeQuery]) -> Page[NoticeShape]:
    """List your notifications in this project. Newest first."""
    rows = notices_of(request.user).filter(project=request.project).select_related("comment")
    if query.unread:
        rows = rows.filter(read_at=None)
    found, following = page_by_number(rows, query)
    return Page[NoticeShape].of([notice_shape(request, row) for row in found], following)


@router.put("/{int:notice}/read", response=NoticeShape)
@member()
def notice_marked(request: ApiRequest, notice: int, body: NoticeRead) -> NoticeShape:
    """Mark a notification as read or unread."""
    rows = notices_of(request.user).filter(project=request.project, pk=notice).select_related("comment")
    row = rows.first()
    if row is None:
        raise NotFound("Notification not found in this project.")
    notice_read(notice=row, read=body.read)
    row.refresh_from_db(fields=["read_at"])
    return notice_shape(request, row)


def notice_shape(request: ApiRequest, row: Notice) -> NoticeShape:
    line = notice_line(row, blind=row.run_id in request.blind_runs)
    same = ("kind", "created_at", "read_at")
    return NoticeShape(
        id=row.pk,
        run=row.run_id,
        experiment=row.experiment_id,
        comment=row.comment_id,
        text=line.text,
        excerpt=line.excerpt,
        **{name: getattr(row, name) for name in same},
    )
