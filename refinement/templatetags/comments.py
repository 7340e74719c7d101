"""Filters for comment counts."""

import json
from collections.abc import Mapping
from typing import Any

from django import template

register = template.Library()


@register.filter
def count_at(talk: Any, number: int | str | None) -> int:
    """Number of comments on the round, or on the run as a whole."""
    counts: Mapping[str, int] = getattr(talk, "counts", {})
    return counts.get("" if number is None else str(number), 0)


@register.filter
def as_json(counts: Mapping[str, int]) -> str:
    """Counts as JSON for the page's script; escaped on output like any value."""
    return json.dumps(counts)
