"""`Idempotency-Key` on every operation that creates something."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from ninja import Schema
from ninja.params.functions import Header
from ninja.utils import contribute_operation_args

from refinement.api.core.auth import ApiRequest
from refinement.api.core.problems import Refused
from refinement.models import IdempotencyKey
from refinement.services.idempotency import KeyInFlight, KeyReused, key_complete, key_release, key_take

KEY_CHARS = 255
JSON = "application/json; charset=utf-8"
HEADER = Header(
    "",
    alias="Idempotency-Key",
    max_length=KEY_CHARS,
    description="A unique name for this request, such as a UUID. Repeating it within 24 hours with the "
    "same body returns the first response and creates nothing.",
)
KEPT_HEADERS = ("Location", "ETag")
View = Callable[..., Any]


def creates(
    status: int = 201, *, shown_once: str = "", before: Callable[..., None] | None = None
) -> Callable[[View], View]:
    """For operations that create an object and return it as a schema; goes below `@member(...)`.

    A field in `shown_once` holds a secret; it is null in the stored response. Slow work that needs no
    transaction runs in `before`, with the operation's arguments.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def once(request: ApiRequest, **values: Any) -> HttpResponse:
            values.pop("idempotency_key", None)
            key = request.headers.get("Idempotency-Key", "")

            if before is not None:
                before(request, **values)

            def work() -> Made:
                result = view(request, **values)
                bare = result.model_copy(update={shown_once: None}) if shown_once else result
                return Made(answered(request, result, status), bare.model_dump_json())

            return _once(request, key, work) if key else work().answer

        contribute_operation_args(once, "idempotency_key", str, HEADER)
        return once

    return decorate


def made_at(request: ApiRequest, address: str, etag: str = "") -> None:
    """Sets the response's Location, and the ETag if the object has one."""
    headers = {"Location": address} | ({"ETag": etag} if etag else {})
    request.made_headers = headers  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Made:
    """A response and its stored body."""

    answer: HttpResponse
    kept: str


def answered(request: ApiRequest, result: Schema, status: int) -> HttpResponse:
    """The operation's result as the response to send and store."""
    headers: dict[str, str] = getattr(request, "made_headers", {})
    return HttpResponse(result.model_dump_json(), status=status, content_type=JSON, headers=headers)


def _once(request: ApiRequest, key: str, work: Callable[[], Made]) -> HttpResponse:
    try:
        taken = key_take(sender=sender_of(request), key=key, fingerprint=fingerprint(request))
        if taken.status is not None:
            return replayed(taken)
        try:
            with transaction.atomic():
                made = work()
                headers = made.answer.headers
                kept = {name: headers[name] for name in KEPT_HEADERS if name in headers}
                key_complete(taken, status=made.answer.status_code, body=made.kept, headers=kept)
        except BaseException:
            key_release(taken)
            raise
    except KeyInFlight:
        words = "A request with this Idempotency-Key is in progress. Try again in a moment."
        raise Refused(409, words, "in_flight", headers={"Retry-After": "1"}) from None
    except KeyReused:
        words = "This Idempotency-Key was used for a different request. Use a new key."
        raise Refused(422, words, "idempotency_key_reused") from None
    return made.answer


def replayed(found: IdempotencyKey) -> HttpResponse:
    headers = {**found.headers, "Idempotency-Replayed": "true"}
    return HttpResponse(found.body, status=found.status, content_type=JSON, headers=headers)


def fingerprint(request: ApiRequest) -> str:
    """Identifies a request by method, URL and body."""
    said = b"\n".join((str(request.method).encode(), request.get_full_path().encode(), request.body))
    return hashlib.sha256(said).hexdigest()


def sender_of(request: ApiRequest) -> str:
    return f"token:{request.token.pk}" if request.token else f"person:{request.user.pk}"
