"""A project's webhooks and their delivery logs."""

from dataclasses import dataclass

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from refinement.models import DeliveryStatus, Project, Webhook, WebhookAttempt, WebhookDelivery
from refinement.models.leased import WorkStatus
from refinement.selectors.projects.lists import NotFound
from refinement.selectors.reviews.blindness import without_hidden

PAGE_SIZE = 50


@dataclass(frozen=True, slots=True)
class DeliveryLog:
    """A page of the log, and where the next one starts."""

    rows: tuple[WebhookDelivery, ...]
    older: int | None


def webhooks_of(project: Project) -> QuerySet[Webhook]:
    """The project's webhooks; `delivered`, `failed` and `waiting` count their log entries."""
    statuses = {
        "delivered": (DeliveryStatus.DELIVERED,),
        "failed": (DeliveryStatus.FAILED,),
        "waiting": tuple(WorkStatus.values),
    }
    counts = {
        name: Count("deliveries", filter=Q(deliveries__status__in=values))
        for name, values in statuses.items()
    }
    rows = Webhook.objects.filter(project=project).select_related("created_by")
    return rows.annotate(**counts).order_by("id")


def webhook_of(project: Project, number: int) -> Webhook:
    """A webhook of the project. Raises NotFound."""
    found = Webhook.objects.filter(project=project, pk=number).select_related("created_by", "project").first()
    if found is None:
        raise NotFound("Webhook not found in this project.")
    return found


def deliveries_of(webhook: Webhook) -> QuerySet[WebhookDelivery]:
    """Visible deliveries, each with its last attempt's `answered`, `error` and `milliseconds`.

    Deliveries about a run reveal its result, so they are hidden from its blind reviewers.
    """
    attempts = WebhookAttempt.objects.filter(delivery=OuterRef("pk")).order_by("-number")
    fields = {"answered": "status", "error": "error", "milliseconds": "milliseconds"}
    last = {name: Subquery(attempts.values(field)[:1]) for name, field in fields.items()}
    rows = WebhookDelivery.objects.filter(webhook=webhook).defer("payload")
    return without_hidden(rows, "run").annotate(**last).order_by("-id")


def delivery_log(webhook: Webhook, *, before: int | None = None, status: str = "") -> DeliveryLog:
    """Newest first. `before` is where the previous page ended."""
    rows = deliveries_of(webhook)
    if before is not None:
        rows = rows.filter(id__lt=before)
    if status in DeliveryStatus.values:
        rows = rows.filter(status=status)
    found = list(rows[: PAGE_SIZE + 1])
    shown = tuple(found[:PAGE_SIZE])
    return DeliveryLog(shown, shown[-1].pk if len(found) > PAGE_SIZE else None)


def delivery_of(webhook: Webhook, number: int) -> WebhookDelivery:
    """A delivery with its attempts. Raises NotFound."""
    rows = without_hidden(WebhookDelivery.objects.filter(webhook=webhook, pk=number), "run")
    found = rows.prefetch_related("attempts").first()
    if found is None:
        raise NotFound("Delivery not found in this webhook’s log. Deliveries are kept for 30 days.")
    found.webhook = webhook
    return found
