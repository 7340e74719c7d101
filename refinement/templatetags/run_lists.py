"""Tags for a run in a list."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from django import template
from django.utils import timezone

from refinement.models import Run, RunSource, RunStatus
from refinement.selectors.reviews.decisions import badge_of
from refinement.selectors.runs.lists import Listed
from refinement.selectors.runs.words import duration, reason_label
from refinement.selectors.score_words import composite_text
from refinement.templatetags.wording import OUTCOME_CLASSES, exact_text

register = template.Library()

STATUS_CLASSES = {RunStatus.RUNNING: "chip-info", RunStatus.WAITING: "chip-warn"}
MARK_LABELS = (
    (
        "signal_rounds",
        "Ralph signal",
        "The candidate changed but the judge's text did not, in {} of its rounds",
    ),
    ("penalty_rounds", "penalty", "Points were deducted in {} of its rounds"),
    ("cut_rounds", "cut", "The judge did not see the whole candidate in {} of its rounds"),
)


@register.inclusion_tag("refinement/tags/run_state.html")
def run_state(run: Run) -> dict[str, str]:
    """Outcome and reason of a finished run, or another run's status."""
    if run.outcome:
        chip = OUTCOME_CLASSES.get(run.outcome, "")
        return {"chip": chip, "words": run.outcome, "detail": reason_label(run), "title": run.why}
    status = RunStatus(run.status)
    waits = run.waiting_for if status == RunStatus.WAITING else ""
    return {
        "chip": STATUS_CLASSES.get(status, ""),
        "words": status.label,
        "detail": waits if len(waits) <= 60 else f"{waits[:59]}…",
    }


@register.inclusion_tag("refinement/tags/chip.html")
def run_decision(run: Run) -> dict[str, str]:
    """The decision on the run, if any."""
    badge = badge_of(run.decision)
    if badge is None:
        return {}
    words, kind = badge
    return {"before": " ", "kind": f"decided {kind}".strip(), "words": words, "title": "Decided by a person"}


@register.inclusion_tag("refinement/tags/chip.html")
def run_source(run: Run) -> dict[str, str]:
    """Where an imported run came from."""
    if run.source is None:
        return {}
    if run.is_example:
        return {"before": " ", "words": "example", "title": "Prepared example: no model ran"}
    return {"before": " ", "words": "imported", "title": f"Imported from: {RunSource(run.source).label}"}


@register.inclusion_tag("refinement/tags/run_marks.html")
def run_marks(run: Run) -> dict[str, list[tuple[str, str]]]:
    """Warnings about the run's rounds."""
    marks = [
        (words, title.format(count)) for name, words, title in MARK_LABELS if (count := getattr(run, name))
    ]
    return {"marks": marks}


@register.inclusion_tag("refinement/tags/run_tags.html")
def run_tags(address: str, entry: Listed) -> dict[str, object]:
    """Each tag as a link to the runs that have it."""
    return {"address": address, "tags": entry.tags, "more": entry.more_tags}


@register.inclusion_tag("refinement/tags/time.html")
def comes(moment: datetime) -> dict[str, str]:
    """When something is due, with the exact time in the tooltip."""
    left = (moment - timezone.now()).total_seconds()
    words = "due now" if left < 1 else f"in {duration(left)}"
    return {"moment": moment.isoformat(), "title": exact_text(moment), "words": words}


@register.simple_tag
def run_score(value: Decimal, run: Run, decimals: Mapping[int, int]) -> str:
    """A run's composite with its rubric's decimals."""
    return composite_text(value, decimals.get(run.rubric_version_id))


@register.filter
def spent(seconds: Decimal) -> str:
    """Model time in its two largest units."""
    return duration(float(seconds)) if seconds else "–"
