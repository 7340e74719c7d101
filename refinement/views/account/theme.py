"""Theme: light, dark or system. Stored in a cookie, so the first paint is already right."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

COOKIE = "wiggum_theme"
CHOICES = ("light", "dark")
YEAR = 365 * 24 * 3600


def theme_of(request: HttpRequest) -> str:
    """`light` or `dark` if the user chose one, else empty for the system's theme."""
    chosen = request.COOKIES.get(COOKIE, "")
    return chosen if chosen in CHOICES else ""


@login_not_required
@require_POST
def change(request: HttpRequest) -> HttpResponse:
    """Saves the choice and returns to the previous page."""
    chosen = request.POST.get("theme", "")
    if chosen not in (*CHOICES, "system"):
        return HttpResponseBadRequest("Choose light, dark or system.", content_type="text/plain")
    response = HttpResponse(status=204) if "HX-Request" in request.headers else _back(request)
    if chosen == "system":
        response.delete_cookie(COOKIE, samesite="Lax")
    else:
        response.set_cookie(
            COOKIE, chosen, max_age=YEAR, httponly=True, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE
        )
    return response


def _back(request: HttpRequest) -> HttpResponse:
    where = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(where, allowed_hosts=None, require_https=False)
    return redirect(where if safe and where.startswith("/") else "home")
