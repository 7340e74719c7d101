"""A project's webhooks, for owners: list, create, edit, test, delete."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.webhooks import WebhookForm
from refinement.models import DeliveryStatus, Webhook, WebhookFormat
from refinement.selectors.webhooks import delivery_log, webhook_of, webhooks_of
from refinement.services.webhooks.hooks import (
    FIELDS,
    WebhookChanged,
    webhook_change,
    webhook_create,
    webhook_ping,
    webhook_remove,
    webhook_secret_renew,
)

SECTION = {"section": "members", "tab": "webhooks", "is_owner": True}


@sensitive_variables("secret")
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@project_view(role="owner")
def webhook_list(request: ProjectRequest) -> HttpResponse:
    """The webhooks, and the form for a new one."""
    if request.method != "POST":
        return _list(request, WebhookForm())
    form = WebhookForm(request.POST)
    if not form.is_valid():
        return _list(request, form, status=422)
    try:
        webhook, secret = webhook_create(project=request.project, by=request.user, values=form.values)
    except ValidationError as error:
        form.add_error(None, error)
        return _list(request, form, status=422)
    if webhook.format != WebhookFormat.WIGGUM:
        messages.success(request, "Webhook created. Send a ping to test it.")
        return redirect("webhook_page", request.project.slug, webhook.pk)
    # The secret can be shown only in this response.
    return _page(request, webhook, _form_of(webhook), status=201, secret=secret, is_new=True)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@project_view(role="owner")
def webhook_page(request: ProjectRequest, webhook: int) -> HttpResponse:
    """A webhook's settings and log."""
    found = webhook_of(request.project, webhook)
    if request.method != "POST":
        return _page(request, found, _form_of(found))
    form = WebhookForm(request.POST)
    if not form.is_valid():
        return _page(request, found, form, status=422)
    version = form.cleaned_data["version"] or 0
    try:
        changed = webhook_change(webhook=found, by=request.user, values=form.values, version=version)
    except WebhookChanged as conflict:
        # Shows the typed values next to the current ones; saving again overwrites them.
        typed = WebhookForm(initial={**form.cleaned_data, "version": conflict.webhook.version})
        return _page(request, conflict.webhook, typed, status=409, now=conflict.webhook)
    except ValidationError as error:
        form.add_error(None, error)
        return _page(request, found, form, status=422)
    messages.success(request, "Webhook saved.") if changed else messages.info(request, "No changes.")
    return redirect("webhook_page", request.project.slug, found.pk)


@sensitive_variables("secret")
@require_POST
@never_cache
@project_view(role="owner")
def webhook_new_secret(request: ProjectRequest, webhook: int) -> HttpResponse:
    """Creates a new secret and shows it once."""
    found = webhook_of(request.project, webhook)
    secret = webhook_secret_renew(webhook=found, by=request.user)
    found.refresh_from_db()
    return _page(request, found, _form_of(found), status=201, secret=secret)


@require_POST
@project_view(role="owner")
def webhook_trial(request: ProjectRequest, webhook: int) -> HttpResponse:
    """Sends a test message."""
    found = webhook_of(request.project, webhook)
    delivery = webhook_ping(webhook=found, by=request.user)
    messages.success(request, "Ping sent. Reload the page to see the response.")
    return redirect("webhook_delivery", request.project.slug, found.pk, delivery.pk)


@require_POST
@project_view(role="owner")
def webhook_removal(request: ProjectRequest, webhook: int) -> HttpResponse:
    """Deletes the webhook and its log."""
    webhook_remove(webhook=webhook_of(request.project, webhook), by=request.user)
    messages.success(request, "Webhook deleted. Pending deliveries were discarded.")
    return redirect("webhook_list", request.project.slug)


def _form_of(webhook: Webhook) -> WebhookForm:
    values = {name: getattr(webhook, name) for name in FIELDS}
    return WebhookForm(initial={**values, "version": webhook.version})


def _list(request: ProjectRequest, form: WebhookForm, *, status: int = 200) -> HttpResponse:
    page = {**SECTION, "form": form, "webhooks": list(webhooks_of(request.project))}
    return render(request, "refinement/webhooks/list.html", page, status=status)


def _page(
    request: ProjectRequest, webhook: Webhook, form: WebhookForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    chosen, before = request.GET.get("status", ""), request.GET.get("before", "")
    is_number = before.isascii() and before.isdigit() and len(before) <= 18
    page = {
        **SECTION,
        "webhook": webhook,
        "form": form,
        "log": delivery_log(webhook, before=int(before) if is_number else None, status=chosen),
        "status": chosen if chosen in DeliveryStatus.values else "",
        "statuses": DeliveryStatus.choices,
        **more,
    }
    return render(request, "refinement/webhooks/page.html", page, status=status)
