"""How times, numbers and outcomes are said on pages."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from refinement.engine.types import Outcome

register = template.Library()

OUTCOME_CLASSES: Mapping[str, str] = {
    Outcome.PASS: "chip-ok",
    Outcome.FAIL: "chip-bad",
    Outcome.ERROR: "chip-warn",
    Outcome.DONE: "chip-info",
}


@register.simple_tag
def ago(moment: datetime | None) -> SafeString | str:
    """How long ago, with the exact time for machines and on pointing at it."""
    if moment is None:
        return ""
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', moment.isoformat(), exact_words(moment), ago_words(moment)
    )


@register.simple_tag
def exact_time(moment: datetime) -> SafeString:
    """The exact time."""
    return format_html('<time datetime="{}">{}</time>', moment.isoformat(), exact_words(moment))


@register.simple_tag
def exact_day(moment: datetime) -> SafeString:
    """The day, with the exact time for machines and on pointing at it."""
    day = f"{timezone.localtime(moment):%-d %B %Y}"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', moment.isoformat(), exact_words(moment), day
    )


def ago_words(moment: datetime) -> str:
    if (timezone.now() - moment).total_seconds() < 60:
        return "just now"
    return f"{timesince(moment, depth=1)} ago"


def exact_words(moment: datetime) -> str:
    return f"{timezone.localtime(moment):%-d %B %Y, %H:%M %Z}"


@register.filter
def grouped(number: int) -> str:
    """A whole number with its thousands apart."""
    return f"{number:,}"


@register.filter
def score(value: Decimal) -> str:
    """A score for display, with two decimals at most."""
    return f"{round(value, 2).normalize():f}"


@register.simple_tag
def outcome_chip(outcome: str) -> SafeString:
    """An outcome as a chip with a sign of its own."""
    return format_html('<span class="chip {}">{}</span>', OUTCOME_CLASSES.get(outcome, ""), outcome)
