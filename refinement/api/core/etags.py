"""Optimistic locking: editable objects have an ETag, and changes must send it as If-Match."""

import hashlib
import json

from django.http import HttpRequest, HttpResponse
from ninja.params.functions import Header

from refinement.api.core.problems import Refused

# For operations: `if_match: str = IF_MATCH`.
IF_MATCH = Header(
    "",
    alias="If-Match",
    max_length=500,
    description="The `ETag` of the object you read. Without it the change is rejected with 428; with "
    "412 if it has changed since.",
)


def etag(*parts: object) -> str:
    """An ETag for these values."""
    digest = hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()
    return f'"{digest[:24]}"'


def tagged(response: HttpResponse, tag: str) -> None:
    """Sets the response's ETag."""
    response.headers["ETag"] = tag


def require_match(request: HttpRequest, tag: str) -> None:
    """Checks If-Match against the current tag; raises 428 or 412."""
    given = request.headers.get("If-Match", "").strip()
    if not given:
        raise Refused(
            428, "Send the ETag of the object you read as If-Match, so no one’s edit is lost.", "precondition"
        )
    if tag not in {part.strip() for part in given.split(",")}:
        raise changed_meanwhile(tag)


def changed_meanwhile(tag: str) -> Refused:
    """412 with the current tag."""
    return Refused(
        412,
        "It was changed since you read it. Read it again and repeat your change.",
        "changed_meanwhile",
        headers={"ETag": tag},
    )
