"""Share links of a run, for those who may change it."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from refinement.access.objects import run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.access.public_links import is_local, public_link
from refinement.forms.projects.sharing import ShareForm
from refinement.models import Run
from refinement.selectors.runs.shares import links_of_run
from refinement.services.runs.shares import (
    OFF,
    TOO_MANY,
    SharingOff,
    TooManyLinks,
    share_link_make,
    share_link_revoke,
)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@project_view(role="editor")
def run_share(request: ProjectRequest, run: int) -> HttpResponse:
    """The run's links, and the form for a new one."""
    found = run_or_404(request, run, whole=False)
    if request.method != "POST":
        return _page(request, found, ShareForm())
    form = ShareForm(request.POST)
    if not form.is_valid():
        return _page(request, found, form, status=422)
    return _made(request, found, form)


@require_POST
@project_view(role="editor")
def share_revocation(request: ProjectRequest, link: int) -> HttpResponse:
    """Revokes the link and returns to the previous page."""
    row, worked = share_link_revoke(project=request.project, number=link, by=request.user)
    if worked:
        messages.success(request, "Link revoked.")
    else:
        messages.info(request, "The link had already expired or been revoked.")
    if request.POST.get("from") == "settings" and request.membership.is_owner:
        return redirect("project_settings", request.project.slug)
    return redirect("run_share", request.project.slug, row.run_id)


@sensitive_variables("token", "address")
def _made(request: ProjectRequest, run: Run, form: ShareForm) -> HttpResponse:
    try:
        link, token = share_link_make(run=run, by=request.user, **form.cleaned_data)
    except SharingOff:
        return _page(request, run, form, status=409, refusal=OFF)
    except TooManyLinks:
        return _page(request, run, form, status=409, refusal=TOO_MANY)
    address = public_link(request, reverse("shared_run", args=[token]))
    # Only a hash of the token is stored, so it can be shown only in this response.
    return _page(
        request, run, ShareForm(), status=201, made=link, address=address, is_local=is_local(address)
    )


def _page(
    request: ProjectRequest, run: Run, form: ShareForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    page = {"section": "runs", "run": run, "form": form, "links": list(links_of_run(run)), **more}
    return render(request, "refinement/share/links.html", page, status=status)
