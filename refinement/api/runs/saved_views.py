"""Saved views of the run list."""

from urllib.parse import parse_qsl

from django.core.exceptions import PermissionDenied
from ninja import Field, Query, Router, Schema, Status

from refinement.api.core.auth import ApiRequest
from refinement.api.core.idempotency import creates
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.api.runs.runs import RunFilters, Sort, filter_form
from refinement.models import SavedView
from refinement.selectors.projects.lists import NotFound
from refinement.selectors.runs.listing.saved_views import views_of
from refinement.services.runs.saved_views import view_delete, view_save

router = Router(tags=["Runs"])
NAME_CHARS = 80


class ViewNew(Schema):
    """Filters and an order, with a name unique among shared views, or among your own."""

    name: str = Field(min_length=1, max_length=NAME_CHARS, examples=["Failed this week"])
    filters: RunFilters = Field(default_factory=RunFilters.model_construct, examples=[{"outcome": "FAIL"}])
    sort: Sort = "newest"
    shared: bool = Field(default=False, description="Visible to everyone in the project. Editors only.")


class ViewShape(Schema):
    """A saved view; `filters` are parameters of the run list."""

    id: int
    name: str
    filters: dict[str, str]
    shared: bool


class SortedFilters(RunFilters):
    sort: Sort = "newest"


@router.get("/views", response=Page[ViewShape])
@member()
def view_list(request: ApiRequest, paging: Query[Paging]) -> Page[ViewShape]:
    """List the project's shared views and your own."""
    rows = views_of(request.project, request.user)
    found, following = page_by_number(rows, paging, newest_first=False)
    return Page[ViewShape].of([view_shape(row) for row in found], following)


@router.post("/views", response={201: ViewShape})
@member()
@creates()
def view_new(request: ApiRequest, body: ViewNew) -> ViewShape:
    """Save a view for yourself or, as an editor, for everyone in the project."""
    if body.shared and not request.membership.can_edit:
        raise PermissionDenied("Only editors and owners can share views.")
    query = filter_form(request, SortedFilters(**body.filters.model_dump(), sort=body.sort)).query()
    view = view_save(
        project=request.project, name=body.name, query=query, user=request.user, shared=body.shared
    )
    return view_shape(view)


@router.delete("/views/{int:view}", response={204: None})
@member()
def view_removed(request: ApiRequest, view: int) -> Status[None]:
    """Delete a saved view. Its runs are not changed. Editors can delete shared views."""
    row = views_of(request.project, request.user).filter(pk=view).first()
    if row is None:
        raise NotFound("View not found in this project. It may have been deleted.")
    if row.shared and not request.membership.can_edit:
        raise PermissionDenied("Only editors and owners can delete shared views.")
    view_delete(view=row, user=request.user)
    return Status(204, None)


def view_shape(row: SavedView) -> ViewShape:
    return ViewShape(id=row.pk, name=row.name, filters=dict(parse_qsl(row.query)), shared=row.shared)
