"""Responses for requests that are refused before Django, without templates or the database."""

import json
from dataclasses import dataclass, field
from html import escape
from http import HTTPStatus
from typing import Any

PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} · Wiggum</title></head>'
    "<body><h1>{title}</h1><p>{detail}</p></body></html>"
)
DISK_FULL_TITLE = "The server's disk is full"
DISK_FULL = (
    "Nothing was saved. Ask the administrator of this instance to free disk space, then try again. "
    "No restart is needed."
)


@dataclass
class Refusal(Exception):
    """A refused request, and the response to it."""

    status: HTTPStatus
    title: str
    detail: str
    code: str
    headers: dict[str, str] = field(default_factory=dict)

    def messages(self, path: str) -> list[dict[str, Any]]:
        """The ASGI messages of the response: problem details for the API, otherwise a page.

        The final message with an empty body is not included: the server closes the connection after it.
        """
        if path.startswith("/api/"):
            kind, body = "application/problem+json", self._problem()
        else:
            kind = "text/html; charset=utf-8"
            body = PAGE.format(title=escape(self.title), detail=escape(self.detail))
        content = body.encode()
        headers = {
            "Content-Type": kind,
            "Cache-Control": "no-store",
            "Content-Security-Policy": "default-src 'none'",
            "X-Content-Type-Options": "nosniff",
            # The rest of the body is not read, so the connection cannot be reused.
            "Connection": "close",
            **self.headers,
        }
        wire = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        return [
            {"type": "http.response.start", "status": int(self.status), "headers": wire},
            {"type": "http.response.body", "body": content, "more_body": True},
        ]

    def _problem(self) -> str:
        return json.dumps(
            {
                "type": "about:blank",
                "title": self.status.phrase,
                "status": int(self.status),
                "detail": self.detail,
                "code": self.code,
            }
        )


def disk_full() -> Refusal:
    return Refusal(HTTPStatus.INSUFFICIENT_STORAGE, DISK_FULL_TITLE, DISK_FULL, "disk_full")
