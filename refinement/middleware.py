"""What every response carries, and who may see anything at all."""

from collections.abc import Callable

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.deprecation import MiddlewareMixin
from django_htmx.http import HttpResponseClientRedirect

from refinement.access.client_address import address_of, means, origin
from refinement.services.people.sessions import session_note_if_due

PERMISSIONS_POLICY = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"


class PageHeadersMiddleware(MiddlewareMixin):
    """Pages are private, vary with htmx and ask for none of a browser's devices."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        if response.headers.get("Content-Type", "").startswith("text/html"):
            patch_vary_headers(response, ["HX-Request"])
            response.headers.setdefault("Cache-Control", "private, no-cache")
        return response


class SignedInMiddleware(LoginRequiredMiddleware):
    """Every view needs a login unless it says otherwise; a partial sends the whole page to sign in."""

    def handle_no_permission(  # type: ignore[override]
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        htmx = getattr(request, "htmx", None)
        if not htmx:
            return super().handle_no_permission(request, view_func)
        came_from = htmx.current_url_abs_path or "/"
        return HttpResponseClientRedirect(redirect_to_login(came_from, self.get_login_url(view_func)).url)


class OriginMiddleware(MiddlewareMixin):
    """Services learn where a request came from without being handed the request."""

    def process_request(self, request: HttpRequest) -> None:
        origin.set(address_of(request))
        means.set("")

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        origin.set("")
        means.set("")
        return response


class SessionsMiddleware(MiddlewareMixin):
    """Every few minutes of use, a session's entry on the account page is brought up to date."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        session_note_if_due(request)
        return response
