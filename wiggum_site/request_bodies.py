"""Limits on request bodies, enforced before Django, which reads a whole body before it handles a request.

The maximum size depends on the path. The maximum time is a fixed time plus a minimum rate. The number and
total size of bodies in progress are limited per client address and for all clients together. Requests without
a body are never refused here.
"""

import asyncio
import logging
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from refinement.access.client_address import address_of, network_of
from refinement.interchange.imports.archives import MOST_BYTES
from refinement.storage_errors import is_disk_full
from wiggum_site.refusals import Refusal, disk_full

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

MEGABYTE = 1_000_000
# Forms that are public are small. An import can be as large as its files, any other form as large as Django
# accepts, plus the overhead of multipart.
SMALL_BODY_PATHS = re.compile(r"/(account|welcome|join|s|healthz|readyz|metrics)(/|$)")
IMPORT_PATHS = re.compile(r"/p/[^/]+/runs/import/?$|/api/v1/projects/[^/]+/imports/?$")
SMALL_BODY_BYTES = 64_000
IMPORT_BYTES = MOST_BYTES + MEGABYTE
RETRY_SECONDS = "5"
DISCARD_SECONDS = 10.0
DISCARD_BYTES = 200 * MEGABYTE
logger = logging.getLogger("wiggum.requests")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on bodies in progress, in total and per client address."""

    total_requests: int = 256
    client_requests: int = 32
    total_bytes: int = 512 * MEGABYTE
    client_bytes: int = 200 * MEGABYTE
    grace_seconds: float = 20.0
    bytes_per_second: int = 16_000


@dataclass(slots=True)
class Usage:
    """Bodies in progress. Used only in the event loop, so it needs no lock."""

    limits: Limits
    requests: Counter[str] = field(default_factory=Counter)
    sizes: Counter[str] = field(default_factory=Counter)

    def enter(self, client: str) -> None:
        if self.requests[client] >= self.limits.client_requests:
            raise too_many(HTTPStatus.TOO_MANY_REQUESTS, "Too many requests from your address")
        if self.requests.total() >= self.limits.total_requests:
            raise too_many(HTTPStatus.SERVICE_UNAVAILABLE, "The server is busy")
        self.requests[client] += 1

    def leave(self, client: str) -> None:
        give_back(self.requests, client, 1)

    def add_bytes(self, client: str, count: int) -> None:
        self.sizes[client] += count
        if self.sizes[client] > self.limits.client_bytes:
            raise too_many(HTTPStatus.TOO_MANY_REQUESTS, "Too many uploads from your address")
        if self.sizes.total() > self.limits.total_bytes:
            raise too_many(HTTPStatus.SERVICE_UNAVAILABLE, "The server is busy")

    def release_bytes(self, client: str, count: int) -> None:
        give_back(self.sizes, client, count)


class RequestBodies:
    """ASGI middleware that wraps `receive` to enforce the limits."""

    def __init__(self, application: Application, limits: Limits | None = None) -> None:
        self.application = application
        self.usage = Usage(limits or Limits())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not has_body(scope):
            await self.application(scope, receive, send)
            return
        body = Body(receive, self.usage, client_of(scope), body_limit(scope["path"]))
        try:
            body.open(declared_length(scope))
            await self.application(scope, body.receive, send)
        except Refusal as refusal:
            await body.refuse(refusal, scope["path"], send)
        except OSError as error:
            # Django spools the body to a file before it responds.
            if body.is_complete or not is_disk_full(error):
                raise
            logger.error("Disk full: a request body could not be stored (%s).", error)
            await body.refuse(disk_full(), scope["path"], send)
        finally:
            body.close()


@dataclass(slots=True)
class Body:
    """The body of one request."""

    source: Receive
    usage: Usage
    client: str
    limit: int
    received: int = 0
    started: float = 0.0
    is_counted: bool = False
    is_complete: bool = False

    def open(self, declared: int) -> None:
        """Count the request, and refuse a declared size above the limit."""
        self.usage.enter(self.client)
        self.is_counted = True
        self.started = asyncio.get_running_loop().time()
        if declared > self.limit:
            raise too_large(self.limit)

    async def receive(self) -> Message:
        if self.is_complete:  # Django still listens for a disconnect
            return await self.source()
        try:
            async with asyncio.timeout_at(self._deadline()):
                message = await self.source()
        except TimeoutError:
            raise too_slow() from None
        count = len(message.get("body", b""))
        self.received += count
        if not message.get("more_body", False):
            self.is_complete = True
            self._leave()
        self.usage.add_bytes(self.client, count)
        if self.received > self.limit:
            raise too_large(self.limit)
        return message

    async def refuse(self, refusal: Refusal, path: str, send: Send) -> None:
        """Respond, and read on for a while: many clients send the whole body before they read a response."""
        for message in refusal.messages(path):
            await send(message)
        if self.is_counted and refusal.status != HTTPStatus.REQUEST_TIMEOUT:
            with suppress(TimeoutError):
                async with asyncio.timeout(DISCARD_SECONDS):
                    await self._discard()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _discard(self) -> None:
        discarded, more = 0, not self.is_complete
        while more and discarded < DISCARD_BYTES:
            message = await self.source()
            discarded += len(message.get("body", b""))
            more = message.get("more_body", False)

    def close(self) -> None:
        self._leave()
        self.usage.release_bytes(self.client, self.received)

    def _leave(self) -> None:
        if self.is_counted:
            self.is_counted = False
            self.usage.leave(self.client)

    def _deadline(self) -> float:
        limits = self.usage.limits
        return self.started + limits.grace_seconds + self.received / limits.bytes_per_second


def has_body(scope: Scope) -> bool:
    """HTTP/1 declares a body in its headers; later versions need not."""
    if not scope["http_version"].startswith("1"):
        return header(scope, b"content-length") != "0"
    return declared_length(scope) > 0 or bool(header(scope, b"transfer-encoding"))


def declared_length(scope: Scope) -> int:
    length = header(scope, b"content-length")
    return int(length) if length.isascii() and length.isdigit() else 0


def header(scope: Scope, name: bytes) -> str:
    return ",".join(value.decode("latin-1") for key, value in scope["headers"] if key == name)


def client_of(scope: Scope) -> str:
    """The client's address or network, as for the sign-in limits."""
    request = HttpRequest()
    request.META["REMOTE_ADDR"] = (scope.get("client") or ("",))[0]
    request.META["HTTP_X_FORWARDED_FOR"] = header(scope, b"x-forwarded-for")
    return network_of(address_of(request))


def body_limit(path: str) -> int:
    if SMALL_BODY_PATHS.match(path):
        return SMALL_BODY_BYTES
    if IMPORT_PATHS.match(path):
        return IMPORT_BYTES
    return (settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0) + MEGABYTE


def give_back(counts: Counter[str], client: str, count: int) -> None:
    counts[client] -= count
    if counts[client] <= 0:
        del counts[client]


def too_large(limit: int) -> Refusal:
    most = f"{limit // MEGABYTE} MB" if limit >= MEGABYTE else f"{limit // 1000} KB"
    return Refusal(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "Too large",
        f"The request is larger than {most}. Send less, or send it in parts.",
        "too_large",
    )


def too_slow() -> Refusal:
    return Refusal(
        HTTPStatus.REQUEST_TIMEOUT,
        "Timed out",
        "The request took too long. Check your connection and try again.",
        "timeout",
    )


def too_many(status: HTTPStatus, title: str) -> Refusal:
    detail = "Too many uploads at the same time. Try again in a few seconds."
    return Refusal(status, title, detail, "too_many_requests", {"Retry-After": RETRY_SECONDS})
