"""Problem details (RFC 9457): all error responses of the API."""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from django.core import exceptions as django
from django.http import Http404, HttpResponse, UnreadablePostError
from ninja import Field, Schema
from ninja import errors as ninja

from refinement.access.blindness import ReadsBlind
from refinement.interchange.rubrics.yaml import BadFile
from refinement.services.people.memberships import LastOwner
from refinement.services.reviews.comments import CommentConflict
from refinement.services.reviews.decisions import DecisionConflict
from refinement.services.runs.hand_rounds import RoundConflict
from refinement.services.runs.ledger import CorrectionConflict
from refinement.services.runs.lifecycle import WrongState
from refinement.storage_errors import is_disk_full

log = logging.getLogger("wiggum.api")
MEDIA_TYPE = "application/problem+json"
MOST_ERRORS = 50
WORDS = {
    400: "The request could not be parsed.",
    401: "Send a valid token as “Authorization: Bearer wgm_…”, or sign in.",
    403: "You do not have permission to do this.",
    404: "Not found, or you do not have access.",
    405: "Method not allowed. See the Allow header.",
    413: "The request is too large.",
    429: "Too many requests or open streams. Try again later.",
    500: "Something went wrong. Try again in a moment. If the problem persists, contact your administrator.",
    503: "Not available at the moment. Try again later.",
    507: "The server's disk is full. Nothing was saved. Ask an administrator to free space, then try again.",
}
# Errors about the state of an object (409), not about the request; their message says which state.
CONFLICTS: dict[type[Exception], str] = {
    WrongState: "wrong_state",
    RoundConflict: "rounds_moved",
    DecisionConflict: "decided_meanwhile",
    LastOwner: "last_owner",
    CommentConflict: "overtaken",
    CorrectionConflict: "corrected_meanwhile",
}


class Wrong(Schema):
    """An error in a request."""

    where: str = Field(description="The part of the request, such as `body.task` or `query.limit`.")
    message: str


class Problem(Schema):
    """Problem details as in RFC 9457: `code` is for programs, `detail` for people."""

    type: str = "about:blank"
    title: str = Field(examples=["Unprocessable Content"])
    status: int = Field(examples=[422])
    detail: str = Field(examples=["The task is empty; say what the text or code is for."])
    code: str = Field(examples=["invalid"])
    errors: list[Wrong] | None = None


@dataclass
class Refused(Exception):
    """A request rejected by an operation, with the response's status and detail."""

    status: int
    detail: str
    code: str
    errors: Sequence[Wrong] = ()
    headers: Mapping[str, str] = field(default_factory=dict)


def problem(
    status: int,
    detail: str = "",
    *,
    code: str = "",
    errors: Sequence[Wrong] = (),
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """A problem response."""
    title = HTTPStatus(status).phrase
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": detail or WORDS.get(status, f"{title}."),
        "code": code or title.lower().replace(" ", "_").replace("-", "_"),
    }
    if errors:
        body["errors"] = [entry.model_dump() for entry in errors[:MOST_ERRORS]]
    return HttpResponse(json.dumps(body), status=status, content_type=MEDIA_TYPE, headers=dict(headers or {}))


def answer_to(error: Exception) -> HttpResponse:
    """The response to an operation's exception."""
    if is_disk_full(error):
        return problem(507, code="disk_full")
    match error:
        case Refused():
            return problem(
                error.status, error.detail, code=error.code, errors=error.errors, headers=error.headers
            )
        case ninja.AuthenticationError():
            return problem(401, headers={"WWW-Authenticate": "Bearer"})
        case ninja.ValidationError():
            return invalid([Wrong(where=place(entry), message=entry["msg"]) for entry in error.errors])
        case ninja.HttpError(__cause__=Refused() as refused):
            return answer_to(refused)
        case ninja.HttpError():
            return problem(error.status_code, error.message)
        case django.ValidationError():
            return invalid(wrongs(error))
        case BadFile():
            return invalid([Wrong(where=f"line {one.line}", message=one.message) for one in error.problems])
    return _answer_to_django(error)


def _answer_to_django(error: Exception) -> HttpResponse:
    match error:
        case Http404():
            return problem(404, str(error))
        case ReadsBlind():
            return problem(403, str(error), code="reads_blind")
        case django.PermissionDenied():
            return problem(403, str(error))
        case django.RequestDataTooBig():
            return problem(413)
        case django.BadRequest() | django.SuspiciousOperation() | UnreadablePostError():
            return problem(400)
    for kind, code in CONFLICTS.items():
        if isinstance(error, kind):
            return problem(409, str(error), code=code)
    log.error("an API operation failed", exc_info=error)
    return problem(500)


def invalid(errors: Sequence[Wrong]) -> HttpResponse:
    """422 with errors by place; the first is also in the detail."""
    more = f" ({len(errors) - 1} more below)" if len(errors) > 1 else ""
    detail = f"{errors[0].where}: {errors[0].message}{more}" if errors else "The request is not valid."
    return problem(422, detail, code="invalid", errors=errors)


def wrongs(error: django.ValidationError, where: str = "body") -> list[Wrong]:
    """A service's or form's errors by field."""
    if not hasattr(error, "error_dict"):
        return [Wrong(where=where, message=message) for message in error.messages]
    return [
        Wrong(where=where if name == "__all__" else f"{where}.{name}", message=message)
        for name, messages in error.message_dict.items()
        for message in messages
    ]


def place(entry: Mapping[str, Any]) -> str:
    """Where pydantic found an error, without our argument names."""
    source, *path = entry["loc"]
    named = [part for part in path if part != "body"] if source == "body" else path
    return ".".join(str(part) for part in (source, *named))
