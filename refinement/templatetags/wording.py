"""How times, numbers and outcomes are said on pages."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from refinement.engine.types import Outcome
from refinement.selectors.score_words import composite_words, given_words

register = template.Library()

MONTHS = (
    *("", "January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
UNITS = (("week", 604_800), ("day", 86_400), ("hour", 3_600), ("minute", 60))  # in seconds
SOON_DAYS = 14  # days that are counted; later ones are named
SHORTEST_MONTH = 28 * 86_400  # from here on it takes a calendar to say how long ago

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
    # A page has dozens of them, and nothing in them is anybody's words that would have to be escaped.
    return SafeString(
        f'<time datetime="{moment.isoformat()}" title="{exact_words(moment)}">{ago_words(moment)}</time>'
    )


@register.simple_tag
def exact_time(moment: datetime) -> SafeString:
    """The exact time."""
    return format_html('<time datetime="{}">{}</time>', moment.isoformat(), exact_words(moment))


@register.simple_tag
def exact_day(moment: datetime) -> SafeString:
    """The day, with the exact time for machines and on pointing at it."""
    day = day_words(timezone.localtime(moment).date())
    return format_html(
        '<time datetime="{}" title="{}" data-day>{}</time>', moment.isoformat(), exact_words(moment), day
    )


@register.simple_tag
def due(day: date) -> SafeString:
    """How far off a due day is, with the day itself on pointing at it.

    Such a day has no zone: it is today where the reader is, which `static/js/times.js` knows better.
    """
    left = (day - timezone.localdate()).days
    return format_html(
        '<time class="chip{}" datetime="{}" title="{}" data-due>{}</time>',
        " chip-bad" if left < 0 else "" if left else " chip-warn",
        day.isoformat(),
        day_words(day),
        due_words(day, left),
    )


def due_words(day: date, left: int) -> str:
    if left < 0:
        return f"overdue by {-left} day{'' if left == -1 else 's'}"
    near = {0: "due today", 1: "due tomorrow"}
    return near.get(left) or (f"due in {left} days" if left <= SOON_DAYS else f"due {day_words(day)}")


def day_words(day: date) -> str:
    return f"{day.day} {MONTHS[day.month]} {day.year}"


def ago_words(moment: datetime) -> str:
    now = timezone.now()
    seconds = int((now - moment).total_seconds())
    if seconds < 60:
        return "just now"
    if seconds >= SHORTEST_MONTH:
        return f"{timesince(moment, now, depth=1)} ago"
    name, length = next(unit for unit in UNITS if seconds >= unit[1])
    count = seconds // length
    return f"{count}\N{NO-BREAK SPACE}{name}{'' if count == 1 else 's'} ago"


def exact_words(moment: datetime) -> str:
    here = timezone.localtime(moment)
    return f"{here.day} {MONTHS[here.month]} {here.year}, {here.hour:02}:{here.minute:02} {here.tzname()}"


@register.filter
def grouped(number: int) -> str:
    """A whole number with its thousands apart."""
    return f"{number:,}"


@register.filter
def score(value: Decimal) -> str:
    """A score as a judge or a person gave it."""
    return given_words(value)


@register.filter
def composite(value: Decimal, decimals: int | None) -> str:
    """A composite with its rubric's decimals."""
    return composite_words(value, decimals)


@register.simple_tag
def outcome_chip(outcome: str) -> SafeString:
    """An outcome as a chip with a sign of its own."""
    return format_html('<span class="chip {}">{}</span>', OUTCOME_CLASSES.get(outcome, ""), outcome)
