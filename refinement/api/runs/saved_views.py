"""Views of the list of runs that a project keeps under names."""

from urllib.parse import parse_qsl

from ninja import Field, Query, Router, Schema, Status

from refinement.api.core.auth import ApiRequest
from refinement.api.core.idempotency import creates
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.api.runs.runs import RunFilters, Sort, filter_form
from refinement.models import SavedView
from refinement.selectors.projects.lists import NotFound
from refinement.services.runs.saved_views import view_delete, view_save

router = Router(tags=["Runs"])
NAME_CHARS = 80


class ViewNew(Schema):
    """Filters and an order under a name that nobody in the project has used."""

    name: str = Field(min_length=1, max_length=NAME_CHARS, examples=["Failed this week"])
    filters: RunFilters = Field(default_factory=RunFilters.model_construct, examples=[{"outcome": "FAIL"}])
    sort: Sort = "newest"


class ViewShape(Schema):
    """A view; `filters` are what a list of runs takes."""

    id: int
    name: str
    filters: dict[str, str]


class SortedFilters(RunFilters):
    sort: Sort = "newest"


@router.get("/views", response=Page[ViewShape])
@member()
def view_list(request: ApiRequest, paging: Query[Paging]) -> Page[ViewShape]:
    """The views that the project keeps."""
    rows = SavedView.objects.filter(project=request.project)
    found, following = page_by_number(rows, paging, newest_first=False)
    return Page[ViewShape].of([view_shape(row) for row in found], following)


@router.post("/views", response={201: ViewShape})
@member("editor")
@creates()
def view_new(request: ApiRequest, body: ViewNew) -> ViewShape:
    """Keeps filters under a name, for everybody in the project."""
    query = filter_form(request, SortedFilters(**body.filters.model_dump(), sort=body.sort)).query()
    return view_shape(view_save(project=request.project, name=body.name, query=query, user=request.user))


@router.delete("/views/{int:view}", response={204: None})
@member("editor")
def view_removed(request: ApiRequest, view: int) -> Status[None]:
    """Forgets a view; its runs stay as they are."""
    row = SavedView.objects.filter(project=request.project, pk=view).first()
    if row is None:
        raise NotFound("There is no such view in this project; somebody may have deleted it.")
    view_delete(view=row, user=request.user)
    return Status(204, None)


def view_shape(row: SavedView) -> ViewShape:
    return ViewShape(id=row.pk, name=row.name, filters=dict(parse_qsl(row.query)))
