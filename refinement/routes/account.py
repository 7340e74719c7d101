"""An account's pages. Of allauth's, only those that this product dresses are routed."""

from allauth.account import views as allauth_views
from django.urls import path, re_path

from refinement.views import account

urlpatterns = [
    path("account/", account.account, name="account"),
    path("account/login/", allauth_views.login, name="account_login"),
    path("account/logout/", allauth_views.logout, name="account_logout"),
    path("account/inactive/", allauth_views.account_inactive, name="account_inactive"),
    path("account/signup/", account.signup_closed, name="account_signup"),
    path("account/confirm/", allauth_views.reauthenticate, name="account_reauthenticate"),
    path("account/password/", allauth_views.password_change, name="account_change_password"),
    path("account/password/set/", allauth_views.password_set, name="account_set_password"),
    path("account/password/reset/", account.password_reset, name="account_reset_password"),
    path(
        "account/password/reset/sent/", allauth_views.password_reset_done, name="account_reset_password_done"
    ),
    path(
        "account/password/reset/done/",
        allauth_views.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
    re_path(
        r"^account/password/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        allauth_views.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
]
