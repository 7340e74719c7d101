"""Error pages. The 500 page needs neither database nor context."""

import logging
import sys

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.csrf import requires_csrf_token

from refinement.storage_errors import is_disk_full
from refinement.views.account.theme import theme_of
from wiggum_site.refusals import DISK_FULL, DISK_FULL_TITLE, PAGE

logger = logging.getLogger(__name__)
# If no template can be rendered.
LAST_RESORT = PAGE.format(
    title="Something went wrong",
    detail="Try again in a moment. If the problem persists, contact the administrator of this instance.",
)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400: the request could not be parsed, or its host is not allowed."""
    if is_disk_full(exception):
        return disk_full(request)
    return _bare(request, "400.html", 400)


@requires_csrf_token
def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403: signed in but not allowed; the exception has the reason."""
    return render(request, "403.html", {"reason": str(exception)}, status=403)


@requires_csrf_token
def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: does not exist, or is hidden from this user."""
    return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """500: must work whatever else fails."""
    try:
        if is_disk_full(sys.exc_info()[1]):
            return disk_full(request)
        return _bare(request, "500.html", 500)
    except Exception:
        logger.exception("the 500 page could not be rendered")
        return HttpResponse(LAST_RESORT, status=500)


def disk_full(request: HttpRequest) -> HttpResponse:
    """507: the disk is full; changing the request would not help."""
    return _bare(request, "507.html", 507, title=DISK_FULL_TITLE, detail=DISK_FULL)


@login_not_required
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a missing CSRF token: says what to do."""
    return _bare(request, "403_csrf.html", 403)


def _bare(request: HttpRequest, template: str, status: int, **words: str) -> HttpResponse:
    # Rendered without the request: context processors would use the session and the database.
    html = render_to_string(template, {"theme": theme_of(request), "bare": True, **words})
    return HttpResponse(html, status=status)
