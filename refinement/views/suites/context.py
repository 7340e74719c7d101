"""Shared context of a suite's pages."""

from typing import Any

from refinement.access.objects import can_edit, suite_or_404, suite_version_or_404
from refinement.access.projects import ProjectRequest

QUERY_CHARS = 200


def suite_context(request: ProjectRequest, slug: str, number: int | None = None) -> dict[str, Any]:
    """The suite, the requested or newest version, and the page header's values."""
    suite = suite_or_404(request, slug)
    newest = suite_version_or_404(suite)
    version = newest if number in (None, newest.number) else suite_version_or_404(suite, number)
    return {
        "section": "suites",
        "suite": suite,
        "version": version,
        "newest": newest.number,
        "can_edit": can_edit(request),
    }


def query_of(request: ProjectRequest) -> str:
    """The search words of the address."""
    return request.GET.get("q", "").replace("\x00", "").strip()[:QUERY_CHARS]


def whole(text: str | None) -> int | None:
    """A submitted version number, if valid."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None
