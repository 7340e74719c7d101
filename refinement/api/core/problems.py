"""What went wrong, as problem details (RFC 9457): the one place where the API words its errors."""

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
from refinement.services.runs.lifecycle import WrongState
from refinement.storage_errors import is_disk_full

log = logging.getLogger("wiggum.api")
MEDIA_TYPE = "application/problem+json"
MOST_ERRORS = 50
WORDS = {
    400: "The request could not be read.",
    401: "Send a token that works as “Authorization: Bearer wgm_…”, or sign in.",
    403: "You may not do this.",
    404: "There is nothing at this address, or nothing for you.",
    405: "This address does not take this method; the Allow header names those it takes.",
    413: "The request is too large.",
    429: "Too many requests, or too many open streams. Wait, then try again.",
    500: "Something broke on our side. Try again in a moment; if it stays, tell your administrator.",
    503: "This is not possible at the moment. Try again later.",
    507: "The server's disk is full. Nothing was saved; ask its administrator to free space, then try again.",
}
# Refusals that are the state of things rather than the request's fault; their message says what is the case.
CONFLICTS: dict[type[Exception], str] = {
    WrongState: "wrong_state",
    RoundConflict: "rounds_moved",
    DecisionConflict: "decided_meanwhile",
    LastOwner: "last_owner",
    CommentConflict: "overtaken",
}


class Wrong(Schema):
    """One thing that is wrong with a request."""

    where: str = Field(description="The part of the request, such as `body.task` or `query.limit`.")
    message: str


class Problem(Schema):
    """Problem details as in RFC 9457; `code` is for programs, `detail` for people."""

    type: str = "about:blank"
    title: str = Field(examples=["Unprocessable Content"])
    status: int = Field(examples=[422])
    detail: str = Field(examples=["The task is empty; say what the text or code is for."])
    code: str = Field(examples=["invalid"])
    errors: list[Wrong] | None = None


@dataclass
class Refused(Exception):
    """A request that an operation refuses, with the status and the words of the answer."""

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
    """An answer that says what was wrong, where, and what to do."""
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
    """The answer to whatever an operation raised."""
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
    log.error("an operation of the API failed", exc_info=error)
    return problem(500)


def invalid(errors: Sequence[Wrong]) -> HttpResponse:
    """422: readable, and wrong in these places; the first of them is also told in the detail."""
    more = f" ({len(errors) - 1} more below)" if len(errors) > 1 else ""
    detail = f"{errors[0].where}: {errors[0].message}{more}" if errors else "The request is not valid."
    return problem(422, detail, code="invalid", errors=errors)


def wrongs(error: django.ValidationError, where: str = "body") -> list[Wrong]:
    """What a service or a form found wrong, field by field."""
    if not hasattr(error, "error_dict"):
        return [Wrong(where=where, message=message) for message in error.messages]
    return [
        Wrong(where=where if name == "__all__" else f"{where}.{name}", message=message)
        for name, messages in error.message_dict.items()
        for message in messages
    ]


def place(entry: Mapping[str, Any]) -> str:
    """Where pydantic found something, without the names of our own arguments."""
    source, *path = entry["loc"]
    named = [part for part in path if part != "body"] if source == "body" else path
    return ".".join(str(part) for part in (source, *named))
