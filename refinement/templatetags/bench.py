"""Filters for rubric test pages."""

from decimal import Decimal

from django import template

from refinement.models import BenchTrial, RubricVersion, TrialStatus
from refinement.selectors.rubrics.bench_words import RUNGS
from refinement.selectors.score_words import composite_text, mean_decimals

register = template.Library()

CHIPS = {
    TrialStatus.DONE: "chip-ok",
    TrialStatus.FAILED: "chip-bad",
    TrialStatus.RUNNING: "chip-info",
    TrialStatus.WAITING: "chip-warn",
}


@register.filter
def trimmed(value: Decimal, digits: int) -> str:
    """A score with its decimals, at most `digits`."""
    return f"{round(value, digits).normalize():f}"


@register.filter
def mean_on(value: Decimal, version: RubricVersion) -> str:
    """A test's mean, with decimals for its version's scale."""
    return composite_text(Decimal(value), mean_decimals(version.scale_minimum, version.scale_maximum))


@register.filter
def rung_label(rung: str) -> str:
    """How a reply was parsed."""
    return RUNGS.get(rung, rung)


@register.filter
def status_chip(trial: BenchTrial) -> str:
    """The chip class of a trial's status."""
    return CHIPS.get(TrialStatus(trial.status), "")
