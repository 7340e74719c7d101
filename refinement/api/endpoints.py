"""Endpoints, for administrators: their tokens can read, only they can write."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Literal

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from ninja import Field, Router, Schema, Status

from refinement.api.core.auth import ApiRequest
from refinement.api.core.etags import IF_MATCH, etag, require_match, tagged
from refinement.api.core.idempotency import creates
from refinement.models import Endpoint
from refinement.selectors.health import endpoint_health
from refinement.selectors.people.administration import ListedEndpoint, endpoints_listed
from refinement.selectors.projects.lists import NotFound
from refinement.services.endpoints import FIELDS, endpoint_change, endpoint_create, endpoint_remove

router = Router(tags=["Endpoints"])
View = Callable[..., Any]
Kind = Literal["ollama", "openai_compatible"]
Places = Field(None, ge=1, le=32_767, description="Concurrent calls; null for no limit.")


def administrator(*, in_person: bool = False) -> Callable[[View], View]:
    """Allows administrators of the instance only.

    With `in_person` a session is required: a project's token changes nothing outside its project.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: ApiRequest, **values: Any) -> Any:
            if not request.user.is_superuser:
                raise PermissionDenied("Only administrators of this instance can do this.")
            if in_person and request.token is not None:
                raise PermissionDenied("A project’s token cannot change the instance. Use a session.")
            return view(request, **values)

        return guarded

    return decorate


class EndpointShape(Schema):
    """A model endpoint and its last known health."""

    name: str
    kind: str
    address: str
    api_key_variable: str = Field(description="The environment variable with the key.")
    concurrency: int | None
    origin: str = Field(description="environment, or added here.")
    ok: bool
    message: str


class Endpoints(Schema):
    """All endpoints in use."""

    items: list[EndpointShape]


class EndpointRow(Schema):
    """An endpoint added by an administrator."""

    name: str
    kind: str
    url: str
    api_key_variable: str
    concurrency: int | None
    enabled: bool


class EndpointNew(Schema):
    """A new endpoint; its key stays in an environment variable."""

    name: str = Field(max_length=60, examples=["gpu"])
    kind: Kind
    url: str = Field(max_length=400, examples=["https://gpu.example.org/v1"])
    api_key_variable: str = Field("", max_length=120, examples=["WIGGUM_KEY_GPU"])
    concurrency: int | None = Places
    enabled: bool = True


class EndpointEdit(Schema):
    """Fields to change. A new URL requires the key variable again."""

    kind: Kind | None = None
    url: str | None = Field(None, max_length=400)
    api_key_variable: str | None = Field(None, max_length=120)
    concurrency: int | None = Places
    enabled: bool | None = None


@router.get("", response=Endpoints)
@administrator()
def endpoint_list(request: ApiRequest) -> Endpoints:
    """List endpoints. Includes their health, without secrets."""
    states = {entry["name"]: (entry["ok"], entry["message"]) for entry in endpoint_health()["endpoints"]}
    return Endpoints(items=[endpoint_shape(entry) for entry in endpoints_listed(states)])


@router.post("", response={201: EndpointRow})
@administrator(in_person=True)
@creates()
def endpoint_new(request: ApiRequest, body: EndpointNew) -> EndpointRow:
    """Add an endpoint."""
    return row_shape(endpoint_create(by=request.user, values=body.model_dump()))


@router.get("/{endpoint}", response=EndpointRow)
@administrator()
def endpoint_read(request: ApiRequest, response: HttpResponse, endpoint: str) -> EndpointRow:
    """Get an added endpoint. Returns an `ETag`."""
    row = row_named(endpoint)
    tagged(response, row_tag(row))
    return row_shape(row)


@router.patch("/{endpoint}", response=EndpointRow)
@administrator(in_person=True)
def endpoint_changed(
    request: ApiRequest, response: HttpResponse, endpoint: str, body: EndpointEdit, if_match: str = IF_MATCH
) -> EndpointRow:
    """Change an added endpoint."""
    require_match(request, row_tag(row_named(endpoint)))
    given = body.model_dump(exclude_unset=True)
    values = {name: value for name, value in given.items() if value is not None or name == "concurrency"}
    row = endpoint_change(name=endpoint, by=request.user, values=values)
    tagged(response, row_tag(row))
    return row_shape(row)


@router.delete("/{endpoint}", response={204: None})
@administrator(in_person=True)
def endpoint_removed(request: ApiRequest, endpoint: str) -> Status[None]:
    """Delete an added endpoint. Runs that use it end in ERROR."""
    endpoint_remove(name=endpoint, by=request.user)
    return Status(204, None)


def row_named(name: str) -> Endpoint:
    found = Endpoint.objects.filter(name=name).first() if "\x00" not in name else None
    if found is None:
        raise NotFound("No model server with this name was added here.")
    return found


def row_tag(row: Endpoint) -> str:
    return etag("endpoint", *(getattr(row, name) for name in FIELDS))


def row_shape(row: Endpoint) -> EndpointRow:
    return EndpointRow(**{name: getattr(row, name) for name in FIELDS})


def endpoint_shape(entry: ListedEndpoint) -> EndpointShape:
    return EndpointShape(
        name=entry.name,
        kind=entry.kind,
        address=entry.address,
        api_key_variable=entry.key_variable,
        concurrency=entry.places,
        origin=entry.origin,
        ok=entry.ok,
        message=entry.message,
    )
