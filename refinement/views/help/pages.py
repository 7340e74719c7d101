"""Help: the documentation inside the app."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.projects import SignedInRequest
from refinement.selectors.help import contents, help_page


@require_safe
def help_index(request: SignedInRequest) -> HttpResponse:
    """The table of contents."""
    return render(request, "refinement/help/index.html", {"section": "help", "contents": contents()})


@require_safe
def help_topic(request: SignedInRequest, page: str) -> HttpResponse:
    """One page of the documentation; without its frame for the dialog of keyboard shortcuts."""
    shown = {"section": "help", "contents": contents(), "name": page, "page": help_page(page)}
    if request.htmx and not request.htmx.boosted:
        return render(request, "refinement/help/_page.html", shown)
    return render(request, "refinement/help/page.html", shown)
