"""Liveness (/healthz) and readiness (/readyz)."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from refinement.selectors.health import (
    broker_health,
    database_health,
    endpoint_health,
    without_details,
    worker_health,
)
from wiggum_site import VERSION


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """The process is up; nothing else is checked."""
    return JsonResponse({"status": "ok", "version": VERSION})


@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Health of each part; 503 unless database, queue and a worker are available."""
    needed = {"database": database_health(), "broker": broker_health(), "worker": worker_health()}
    ready = all(part["ok"] for part in needed.values())
    return JsonResponse(
        {
            "status": "ok" if ready else "unavailable",
            **needed,
            "endpoints": without_details(endpoint_health()),
        },
        status=200 if ready else 503,
    )
