"""Nobody overwrites an edit unseen: what people edit carries a tag, and a change names the one it is of."""

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
    description="The `ETag` of what you read; without it the change is refused with 428, and with 412 where "
    "somebody was faster.",
)


def etag(*parts: object) -> str:
    """Tells one state of something from another."""
    digest = hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()
    return f'"{digest[:24]}"'


def tagged(response: HttpResponse, tag: str) -> None:
    """The answer says which state it shows."""
    response.headers["ETag"] = tag


def require_match(request: HttpRequest, tag: str) -> None:
    """The state that the sender saw is the one there is; else 428 or 412."""
    given = request.headers.get("If-Match", "").strip()
    if not given:
        raise Refused(
            428, "Send the ETag of what you read as If-Match, so that nobody’s edit is lost.", "precondition"
        )
    if tag not in {part.strip() for part in given.split(",")}:
        raise changed_meanwhile(tag)


def changed_meanwhile(tag: str) -> Refused:
    """412, with the tag of what is there now."""
    return Refused(
        412,
        "It was changed since you read it. Read it again, make your change there, and send that.",
        "changed_meanwhile",
        headers={"ETag": tag},
    )
