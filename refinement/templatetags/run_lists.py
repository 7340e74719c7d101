"""Tags for a run in a list."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from django import template
from django.utils import timezone

from refinement.models import Run, RunSource
from refinement.selectors.reviews.decisions import badge_of
from refinement.selectors.runs.words import duration
from refinement.selectors.score_words import composite_text
from refinement.templatetags.wording import exact_text, outcome_chip

register = template.Library()


@register.inclusion_tag("refinement/tags/chip.html")
def run_outcome(run: Run, unproven: Mapping[int, str]) -> dict[str, str]:
    """The outcome as a chip. `unproven` says why it proves nothing, by run."""
    return outcome_chip(run.outcome, unproven.get(run.pk, ""))


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
