"""Filters for times, numbers and outcomes."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal

from django import template
from django.utils import timezone
from django.utils.timesince import timesince

from refinement.engine.types import Outcome
from refinement.models import Run
from refinement.pricing import money as money_text
from refinement.selectors.runs.words import fails_again as is_certain_to_fail
from refinement.selectors.runs.words import outcome_word
from refinement.selectors.score_words import composite_text, score_text

register = template.Library()

SOON_DAYS = 14  # due dates up to here are relative; later ones are dates

OUTCOME_CLASSES: Mapping[str, str] = {
    Outcome.PASS: "chip-ok",
    Outcome.FAIL: "chip-bad",
    Outcome.ERROR: "chip-warn",
}

NO_PASS_MARK = "Finished; the rubric has no pass mark"


@register.inclusion_tag("refinement/tags/time.html")
def ago(moment: datetime | None) -> dict[str, object]:
    """How long ago, with the exact time in the tooltip; empty for None."""
    if moment is None:
        return {}
    return {"moment": moment.isoformat(), "title": exact_text(moment), "words": ago_text(moment)}


@register.inclusion_tag("refinement/tags/time.html")
def exact_time(moment: datetime) -> dict[str, object]:
    """The exact time."""
    return {"moment": moment.isoformat(), "words": exact_text(moment)}


@register.inclusion_tag("refinement/tags/time.html")
def exact_day(moment: datetime) -> dict[str, object]:
    """The day, with the exact time in the tooltip."""
    words = day_text(timezone.localtime(moment).date())
    return {"moment": moment.isoformat(), "title": exact_text(moment), "mark": "data-day", "words": words}


@register.inclusion_tag("refinement/tags/time.html")
def due(day: date) -> dict[str, object]:
    """How far off a due date is, with the date in the tooltip.

    A due date has no time zone: `static/js/times.js` corrects it to the user's local day.
    """
    left = (day - timezone.localdate()).days
    chip = "chip chip-bad" if left < 0 else "chip" if left else "chip chip-warn"
    return {
        "moment": day.isoformat(),
        "title": day_text(day),
        "mark": "data-due",
        "words": due_text(day, left),
        "chip": chip,
    }


def due_text(day: date, left: int) -> str:
    if left < 0:
        return f"overdue by {-left} day{'' if left == -1 else 's'}"
    near = {0: "due today", 1: "due tomorrow"}
    return near.get(left) or (f"due in {left} days" if left <= SOON_DAYS else f"due {day_text(day)}")


def day_text(day: date) -> str:
    return f"{day:%-d %B %Y}"


def ago_text(moment: datetime) -> str:
    now = timezone.now()
    return "just now" if (now - moment).total_seconds() < 60 else f"{timesince(moment, now, depth=1)} ago"


def exact_text(moment: datetime) -> str:
    return f"{timezone.localtime(moment):%-d %B %Y, %H:%M %Z}"


@register.filter
def fails_again(run: Run) -> bool:
    """Whether a retry of the run cannot help."""
    return is_certain_to_fail(run)


@register.filter
def in_words(key: str) -> str:
    """A key such as no-vague-words as a phrase."""
    return key.replace("-", " ").capitalize()


@register.filter
def grouped(number: int) -> str:
    """An integer with thousands separators."""
    return f"{number:,}"


@register.filter
def money(amount: Decimal) -> str:
    """An amount in the instance's currency."""
    return money_text(amount)


@register.filter
def score(value: Decimal) -> str:
    """A score as given by a judge or a person."""
    return score_text(value)


@register.filter
def composite(value: Decimal, decimals: int | None) -> str:
    """A composite with its rubric's decimals."""
    return composite_text(value, decimals)


@register.inclusion_tag("refinement/tags/chip.html")
def outcome_chip(outcome: str, unproven: str = "", neutral: bool = False) -> dict[str, str]:
    """An outcome as a chip with its own symbol.

    It has no colour and no symbol if it is `unproven`, with the reason, or `neutral`.
    """
    if unproven:
        return {"words": f"{outcome_word(outcome)}, unproven judge", "title": unproven}
    title = NO_PASS_MARK if outcome == Outcome.DONE else ""
    kind = "" if neutral else OUTCOME_CLASSES.get(outcome, "")
    return {"kind": kind, "words": outcome_word(outcome), "title": title}
