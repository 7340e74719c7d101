"""Model endpoints added by administrators: create, edit, disable, delete."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from refinement.access.projects import SignedInRequest
from refinement.forms.endpoints import EndpointForm
from refinement.models import Endpoint
from refinement.selectors.endpoints import row_spec
from refinement.services.endpoints import (
    FIELDS,
    EndpointChanged,
    endpoint_change,
    endpoint_create,
    endpoint_mark,
    endpoint_remove,
)
from refinement.views.system.administration import administrator_view


@require_http_methods(["GET", "HEAD", "POST"])
@administrator_view
def endpoint_new(request: SignedInRequest) -> HttpResponse:
    """The form for a new endpoint."""
    if request.method != "POST":
        return _page(request, EndpointForm())
    form = EndpointForm(request.POST)
    if form.is_valid():
        try:
            row = endpoint_create(by=request.user, values=form.values)
        except ValidationError as error:
            _take_over(form, error)
        else:
            messages.success(request, f"Model server {row.name} added.")
            return redirect("administration_system")
    return _page(request, form, status=422)


@require_http_methods(["GET", "HEAD", "POST"])
@administrator_view
def endpoint_page(request: SignedInRequest, endpoint: str) -> HttpResponse:
    """An endpoint added here, to edit, disable or delete."""
    row = get_object_or_404(Endpoint, name=endpoint)
    if request.method != "POST":
        return _page(request, _form_of(row), row=row)
    form = EndpointForm(request.POST, row=row)
    if not form.is_valid():
        return _page(request, form, row=row, status=422)
    seen = form.cleaned_data["seen"] or "none"
    try:
        endpoint_change(name=endpoint, by=request.user, values=form.values, seen=seen)
    except EndpointChanged as conflict:
        # Shows the typed values next to the current ones; saving again overwrites them.
        now = conflict.endpoint
        typed = EndpointForm(initial={**form.cleaned_data, "seen": endpoint_mark(now)}, row=now)
        return _page(request, typed, row=now, now=now, status=409)
    except ValidationError as error:
        _take_over(form, error)
        return _page(request, form, row=get_object_or_404(Endpoint, name=endpoint), status=422)
    messages.success(request, f"Model server {endpoint} saved.")
    return redirect("administration_system")


@require_POST
@administrator_view
def endpoint_removal(request: SignedInRequest, endpoint: str) -> HttpResponse:
    """Deletes the endpoint; its runs stay."""
    endpoint_remove(name=endpoint, by=request.user)
    messages.success(request, f"Model server {endpoint} deleted.")
    return redirect("administration_system")


def _form_of(row: Endpoint) -> EndpointForm:
    values = {name: getattr(row, name) for name in FIELDS}
    return EndpointForm(initial={**values, "seen": endpoint_mark(row)}, row=row)


def _take_over(form: EndpointForm, error: ValidationError) -> None:
    """Adds the service's error to the field it refers to."""
    for name, words in error.message_dict.items():
        form.add_error(name if name in form.fields else None, words)


def _page(
    request: SignedInRequest,
    form: EndpointForm,
    *,
    row: Endpoint | None = None,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    refusal = row_spec(row).refusal if row else ""
    page = {"tab": "system", "form": form, "row": row, "refusal": refusal, **more}
    return render(request, "refinement/people/endpoint.html", page, status=status)
