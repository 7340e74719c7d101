"""Account, sign-in and security pages, and API tokens. Only the allauth pages that we style are routed."""

from allauth.account import views as allauth_views
from allauth.mfa.base import views as mfa_views
from allauth.mfa.recovery_codes import views as codes_views
from allauth.mfa.totp import views as totp_views
from allauth.mfa.webauthn import views as webauthn_views
from django.urls import path, re_path
from django.views.decorators.http import require_http_methods

from refinement.views.account import openid, profile, security, sessions, theme, tokens, welcome

TOKENS = "p/<slug:slug>/tokens/"
SECURITY = "account/security/"
# allauth's views check the user before the method, so other methods are rejected here.
page = require_http_methods(["GET", "HEAD"])
form = require_http_methods(["GET", "HEAD", "POST"])

urlpatterns = [
    path("account/", profile.account, name="account"),
    path("account/login/", form(allauth_views.login), name="account_login"),
    path("account/logout/", form(allauth_views.logout), name="account_logout"),
    path("account/inactive/", page(allauth_views.account_inactive), name="account_inactive"),
    path("account/signup/", form(profile.signup_closed), name="account_signup"),
    path("account/confirm/", form(allauth_views.reauthenticate), name="account_reauthenticate"),
    path("account/password/", form(allauth_views.password_change), name="account_change_password"),
    path("account/password/set/", form(allauth_views.password_set), name="account_set_password"),
    path("account/password/reset/", form(profile.password_reset), name="account_reset_password"),
    path(
        "account/password/reset/sent/",
        page(allauth_views.password_reset_done),
        name="account_reset_password_done",
    ),
    path(
        "account/password/reset/done/",
        page(allauth_views.password_reset_from_key_done),
        name="account_reset_password_from_key_done",
    ),
    re_path(
        r"^account/password/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        form(allauth_views.password_reset_from_key),
        name="account_reset_password_from_key",
    ),
    path("account/provider/", openid.begin, name="openid_begin"),
    path("account/provider/callback/", openid.callback, name="openid_callback"),
    path("account/provider/disconnect/", security.disconnect, name="openid_disconnect"),
    path(SECURITY, page(security.index), name="mfa_index"),
    path(f"{SECURITY}code/", form(mfa_views.authenticate), name="mfa_authenticate"),
    path(f"{SECURITY}confirm/", form(mfa_views.reauthenticate), name="mfa_reauthenticate"),
    path(f"{SECURITY}app/add/", form(totp_views.activate_totp), name="mfa_activate_totp"),
    path(f"{SECURITY}app/remove/", form(totp_views.deactivate_totp), name="mfa_deactivate_totp"),
    path(f"{SECURITY}recovery-codes/", page(security.recovery_codes), name="mfa_view_recovery_codes"),
    path(
        f"{SECURITY}recovery-codes/new/",
        form(codes_views.generate_recovery_codes),
        name="mfa_generate_recovery_codes",
    ),
    path(f"{SECURITY}passkeys/", security.passkeys, name="mfa_list_webauthn"),
    path(f"{SECURITY}passkeys/add/", form(webauthn_views.add_webauthn), name="mfa_add_webauthn"),
    path(f"{SECURITY}passkeys/sign-in/", form(webauthn_views.login_webauthn), name="mfa_login_webauthn"),
    path(
        f"{SECURITY}passkeys/confirm/",
        form(webauthn_views.reauthenticate_webauthn),
        name="mfa_reauthenticate_webauthn",
    ),
    path(f"{SECURITY}passkeys/<int:pk>/name/", form(security.rename_passkey), name="mfa_edit_webauthn"),
    path(
        f"{SECURITY}passkeys/<int:pk>/remove/",
        form(webauthn_views.remove_webauthn),
        name="mfa_remove_webauthn",
    ),
    path("account/sessions/<int:session>/end/", sessions.session_revocation, name="session_end"),
    path("account/sessions/end-others/", sessions.other_sessions_revocation, name="sessions_end_others"),
    path("theme/", theme.change, name="theme"),
    path("welcome/<str:token>/", welcome.welcome, name="welcome"),
    path(TOKENS, tokens.token_list, name="token_list"),
    path(f"{TOKENS}<int:token>/revoke/", tokens.token_revocation, name="token_revoke"),
]
