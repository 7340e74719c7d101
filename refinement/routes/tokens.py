"""API tokens of a project."""

from django.urls import path

from refinement.views import tokens

TOKENS = "p/<slug:slug>/tokens/"

urlpatterns = [
    path(TOKENS, tokens.token_list, name="token_list"),
    path(f"{TOKENS}<int:token>/revoke/", tokens.token_revocation, name="token_revoke"),
]
