"""Root URLs. The API's are in wiggum_site/api.py."""

from django.contrib.auth.decorators import login_not_required
from django.urls import include, path

from refinement.views.system.health import healthz, readyz
from refinement.views.system.metrics import metrics
from wiggum_site.api import addresses, docs

urlpatterns = [
    path("healthz", login_not_required(healthz), name="healthz"),
    path("readyz", login_not_required(readyz), name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("api/v1/docs", docs, name="api_docs"),
    path("api/v1/", addresses()),
    path("", include("refinement.urls")),
]
handler400 = "refinement.views.system.errors.bad_request"
handler403 = "refinement.views.system.errors.forbidden"
handler404 = "refinement.views.system.errors.not_found"
handler500 = "refinement.views.system.errors.server_error"
