"""/metrics: worker and queue metrics for Prometheus."""

from collections.abc import Iterable, Iterator

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from refinement.execution.metrics import Family, counters, gauges

BEARER = "Bearer "


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """For administrators, signed in or with the token in WIGGUM_METRICS_TOKEN."""
    authorization = request.headers.get("Authorization", "")
    if has_token(authorization) or request.user.is_superuser:
        return exposition(counters(), gauges())
    if not request.user.is_authenticated and not authorization:
        return redirect_to_login(request.get_full_path())
    if authorization:
        raise PermissionDenied("The token does not match WIGGUM_METRICS_TOKEN.")
    raise PermissionDenied("Only administrators of this instance can see its metrics.")


def has_token(authorization: str) -> bool:
    """Whether the header has the instance's token; false if none is set."""
    expected: str = settings.METRICS_TOKEN
    given = authorization.removeprefix(BEARER).strip() if authorization.startswith(BEARER) else ""
    return bool(expected) and constant_time_compare(given, expected)


def exposition(totals: Iterable[Family], present: Iterable[Family]) -> HttpResponse:
    """Counters and gauges in Prometheus text format."""
    # Imported here to save memory in web processes that never serve metrics.
    from prometheus_client import CollectorRegistry
    from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
    from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
    from prometheus_client.registry import Collector

    class Found(Collector):
        def collect(self) -> Iterator[Metric]:
            yield from (filled(CounterMetricFamily, family) for family in totals)
            yield from (filled(GaugeMetricFamily, family) for family in present)

    def filled(
        kind: type[CounterMetricFamily] | type[GaugeMetricFamily], family: Family
    ) -> CounterMetricFamily | GaugeMetricFamily:
        metric = kind(family.name, family.help, labels=[family.label] if family.label else [])
        for label, value in family.values.items():
            metric.add_metric([label] if family.label else [], value)
        return metric

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Found())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)
