"""Two-factor and passkeys: the pages that differ from allauth's."""

from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.mfa.base.views import IndexView
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.views import ViewRecoveryCodesView
from allauth.mfa.webauthn.views import EditWebAuthnView
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from refinement.access.projects import SignedInRequest
from refinement.services.people.identities import identity_disconnect
from refinement.services.people.two_factor import passkey_rename_record


class Security(IndexView):  # type: ignore[misc]
    """How the user signs in, and what they can add."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        page: dict[str, Any] = super().get_context_data(**kwargs)
        means = page["authenticators"]
        codes = means.get(Authenticator.Type.RECOVERY_CODES)
        return page | {
            "tab": "security",
            "totp": means.get(Authenticator.Type.TOTP),
            "passkeys": means.get(Authenticator.Type.WEBAUTHN, []),
            "codes": codes,
            "codes_left": len(codes.get_unused_codes()) if codes else 0,
            "provider": settings.OPENID_CONNECT,
            "identity": self.request.user.external_identities.first(),
        }


@method_decorator(never_cache, name="dispatch")
class RecoveryCodes(ViewRecoveryCodesView):  # type: ignore[misc]
    """Shows the codes once, uncached."""


class RenamePasskey(EditWebAuthnView):  # type: ignore[misc]
    """Renames a passkey, with an audit entry."""

    def form_valid(self, form: Any) -> HttpResponse:
        before = form.instance.wrap().name
        answer: HttpResponse = super().form_valid(form)
        passkey_rename_record(user=self.request.user, before=before, after=form.cleaned_data["name"])
        return answer


@require_safe
def passkeys(request: SignedInRequest) -> HttpResponse:
    """Redirects to the security page, which lists the passkeys."""
    return redirect("mfa_index")


@require_POST
@reauthentication_required  # type: ignore[untyped-decorator]
def disconnect(request: SignedInRequest) -> HttpResponse:
    """Unlinks the account from the sign-in provider if there is another way to sign in."""
    if not request.user.has_usable_password():
        messages.error(request, "Set a password first. Without the provider you could not sign in.")
    elif identity_disconnect(user=request.user):
        messages.success(request, "Your account is no longer linked to the provider.")
    return redirect("mfa_index")


index = Security.as_view()
recovery_codes = RecoveryCodes.as_view()
rename_passkey = RenamePasskey.as_view()
