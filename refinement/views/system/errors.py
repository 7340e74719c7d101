"""Pages for what went wrong, in plain words. The 500 page needs neither database nor context."""

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
# For when no template can be rendered.
LAST_RESORT = PAGE.format(
    title="Something broke on our side",
    detail="Try again in a moment. If it stays like this, tell the administrator of this instance.",
)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400: the request could not be read, or came to a name this instance does not answer to."""
    if is_disk_full(exception):
        return disk_full(request)
    return _bare(request, "400.html", 400)


@requires_csrf_token
def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403: signed in, but not allowed; the reason is the exception's."""
    return render(request, "403.html", {"reason": str(exception)}, status=403)


@requires_csrf_token
def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: nothing here, or nothing for this person."""
    return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """500: our fault; this page must come whatever else is broken."""
    try:
        if is_disk_full(sys.exc_info()[1]):
            return disk_full(request)
        return _bare(request, "500.html", 500)
    except Exception:
        logger.exception("the page for server errors could not be made")
        return HttpResponse(LAST_RESORT, status=500)


def disk_full(request: HttpRequest) -> HttpResponse:
    """507: nothing can be stored, and no change of the request helps."""
    return _bare(request, "507.html", 507, title=DISK_FULL_TITLE, detail=DISK_FULL)


@login_not_required
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a form without its token: says what to do rather than what CSRF is."""
    return _bare(request, "403_csrf.html", 403)


def _bare(request: HttpRequest, template: str, status: int, **words: str) -> HttpResponse:
    # No request is passed on: context processors would read the session and the database.
    html = render_to_string(template, {"theme": theme_of(request), "bare": True, **words})
    return HttpResponse(html, status=status)
