"""A webhook delivery: payload, attempts and resending."""

import json

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from refinement.access.projects import ProjectRequest, project_view
from refinement.selectors.webhooks import delivery_of, webhook_of
from refinement.services.webhooks.hooks import delivery_resend
from refinement.views.webhooks.hooks import SECTION


@require_safe
@project_view(role="owner")
def delivery_page(request: ProjectRequest, webhook: int, delivery: int) -> HttpResponse:
    """The payload and every attempt to deliver it."""
    hook = webhook_of(request.project, webhook)
    found = delivery_of(hook, delivery)
    page = {
        **SECTION,
        "webhook": hook,
        "delivery": found,
        "attempts": list(found.attempts.all()),
        "payload": json.dumps(json.loads(found.payload), indent=2, ensure_ascii=False),
    }
    return render(request, "refinement/webhooks/delivery.html", page)


@require_POST
@project_view(role="owner")
def delivery_resending(request: ProjectRequest, webhook: int, delivery: int) -> HttpResponse:
    """Sends the payload again."""
    hook = webhook_of(request.project, webhook)
    if delivery_resend(delivery=delivery_of(hook, delivery), by=request.user):
        messages.success(request, "Resending. Reload the page to see the response.")
    else:
        messages.info(request, "It is already being sent.")
    return redirect("webhook_delivery", request.project.slug, hook.pk, delivery)
