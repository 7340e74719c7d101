"""How far a measurement is."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db.models import Count, Q, Sum
from django.utils import timezone

from refinement.models import BenchTrial, Measurement, MeasurementItem, MeasurementStatus, TrialStatus
from refinement.selectors.runs.words import duration

ENDED = (TrialStatus.DONE, TrialStatus.FAILED)


@dataclass(frozen=True, slots=True)
class Progress:
    """Judgements by state, and what the calls took. Reused verdicts took nothing."""

    total: int
    states: Mapping[str, int]
    reused: int
    tokens: int
    calls: int
    seconds: Decimal

    @property
    def done(self) -> int:
        return self.states.get(TrialStatus.DONE, 0)

    @property
    def failed(self) -> int:
        return self.states.get(TrialStatus.FAILED, 0)

    @property
    def ended(self) -> int:
        return self.done + self.failed

    @property
    def running(self) -> int:
        return sum(self.states.get(state, 0) for state in (TrialStatus.RUNNING, TrialStatus.QUEUED))

    @property
    def waiting(self) -> int:
        """Under way, but waiting for a model server."""
        return self.states.get(TrialStatus.WAITING, 0)

    @property
    def percent(self) -> int:
        return 100 * self.ended // self.total if self.total else 0


def progress_of(measurement: Measurement) -> Progress:
    """Two queries."""
    texts = MeasurementItem.objects.filter(measurement=measurement).count()
    rows = (
        BenchTrial.objects.filter(bench__measured__measurement=measurement)
        .order_by()
        .values("status")
        .annotate(
            count=Count("pk"),
            reused=Count("pk", filter=Q(calls_made=0, status=TrialStatus.DONE)),
            prompts=Sum("prompt_tokens"),
            replies=Sum("completion_tokens"),
            made=Sum("calls_made"),
            took=Sum("seconds"),
        )
    )
    groups = list(rows)
    return Progress(
        total=texts * measurement.repeats * (len(measurement.panel) or 1),
        states={group["status"]: group["count"] for group in groups},
        reused=sum(group["reused"] for group in groups),
        tokens=sum(group["prompts"] + group["replies"] for group in groups),
        calls=sum(group["made"] for group in groups),
        seconds=sum((group["took"] for group in groups), Decimal(0)),
    )


def tokens_used(measurement: Measurement) -> int:
    """The tokens of all its calls. One query."""
    trials = BenchTrial.objects.filter(bench__measured__measurement=measurement).order_by()
    sums = trials.aggregate(prompts=Sum("prompt_tokens"), replies=Sum("completion_tokens"))
    return (sums["prompts"] or 0) + (sums["replies"] or 0)


def elapsed_words(measurement: Measurement) -> str:
    elapsed = (measurement.finished_at or timezone.now()) - measurement.created_at
    return duration(elapsed.total_seconds())


def left_words(measurement: Measurement, progress: Progress) -> str:
    """The estimated time left at the pace so far; empty if it is unknown."""
    called = progress.ended - progress.reused
    if measurement.status != MeasurementStatus.RUNNING or not called:
        return ""
    elapsed: timedelta = timezone.now() - measurement.created_at
    seconds = elapsed.total_seconds() * (progress.total - progress.ended) / called
    if seconds < 60:
        return "less than a minute"
    return f"about {duration(seconds)}"
