"""API tokens of a project: created by members, revoked by their creators and by owners."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.people.tokens import TokenForm
from refinement.selectors.people.tokens import tokens_for
from refinement.services.people.tokens import token_make, token_revoke


@sensitive_variables("text")
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@project_view()
def token_list(request: ProjectRequest) -> HttpResponse:
    """Lists the tokens. POST creates one and shows it once."""
    if request.method != "POST":
        return _page(request, _form(request))
    form = _form(request, request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    try:
        token, text = token_make(project=request.project, by=request.user, **form.cleaned_data)
    except ValidationError as refusal:
        form.take_over(refusal)
        return _page(request, form, status=422)
    # Only a hash of the token is stored, so it can be shown only in this response.
    return _page(request, _form(request), status=201, made=token, text=text)


@require_POST
@project_view()
def token_revocation(request: ProjectRequest, token: int) -> HttpResponse:
    """Revokes the token."""
    row, worked = token_revoke(project=request.project, number=token, by=request.user)
    if worked:
        messages.success(request, f"Token {row.name} revoked.")
    else:
        messages.info(request, f"Token {row.name} was already revoked.")
    return redirect("token_list", request.project.slug)


def _form(request: ProjectRequest, *data: Any) -> TokenForm:
    return TokenForm(*data, membership=request.membership)


def _page(request: ProjectRequest, form: TokenForm, *, status: int = 200, **more: Any) -> HttpResponse:
    page = {
        "section": "members",
        "tab": "tokens",
        "is_owner": request.membership.is_owner,
        "form": form,
        "tokens": tokens_for(request.membership),
        "api_address": request.build_absolute_uri(f"/api/v1/projects/{request.project.slug}"),
        **more,
    }
    return render(request, "refinement/tokens/list.html", page, status=status)
