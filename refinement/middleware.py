"""Response headers, required sign-in, and request context."""

from collections.abc import Callable
from contextlib import suppress
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.deprecation import MiddlewareMixin
from django_htmx.http import HttpResponseClientRedirect

from refinement.access.client_address import address_of, means, origin
from refinement.services.people.sessions import session_note_if_due

PERMISSIONS_POLICY = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"


class PageHeadersMiddleware(MiddlewareMixin):
    """Sets caching and permission headers."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        if response.headers.get("Content-Type", "").startswith("text/html"):
            patch_vary_headers(response, ["HX-Request"])
            response.headers.setdefault("Cache-Control", "private, no-cache")
        return response


class SignedInMiddleware(LoginRequiredMiddleware):
    """Requires a login for every view by default. An htmx request redirects the whole page."""

    def handle_no_permission(  # type: ignore[override]
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        htmx = getattr(request, "htmx", None)
        if not htmx:
            return super().handle_no_permission(request, view_func)
        came_from = htmx.current_url_abs_path or "/"
        return HttpResponseClientRedirect(redirect_to_login(came_from, self.get_login_url(view_func)).url)


class TimeZoneMiddleware(MiddlewareMixin):
    """Times on pages are in the user's time zone, if they chose one."""

    def process_view(
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase], *arguments: object
    ) -> None:
        # Pages that need no login must not load the user for this.
        if not getattr(view_func, "login_required", True):
            return
        with suppress(ZoneInfoNotFoundError, ValueError):  # a zone that this computer does not know
            if zone := getattr(request.user, "time_zone", ""):
                timezone.activate(ZoneInfo(zone))
                request.time_zone = zone  # type: ignore[attr-defined]

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        timezone.deactivate()
        return response


class OriginMiddleware(MiddlewareMixin):
    """Makes the client address available to services, for the audit log."""

    def process_request(self, request: HttpRequest) -> None:
        origin.set(address_of(request))
        means.set("")

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        origin.set("")
        means.set("")
        return response


class SessionsMiddleware(MiddlewareMixin):
    """Updates the session's entry on the account page every few minutes."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        session_note_if_due(request)
        return response
