"""Filters for a running run."""

from datetime import datetime

from django import template
from django.utils import timezone

register = template.Library()


@register.filter
def clock(since: datetime) -> str:
    """The time since then, as a clock shows it: 0:45, 7:42, 1:02:07; from two days on in days."""
    seconds = max(0, int((timezone.now() - since).total_seconds()))
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24} days"
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
