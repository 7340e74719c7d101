"""Comments beside what they are about."""

import json
from collections.abc import Mapping
from typing import Any

from django import template

register = template.Library()


@register.filter
def count_at(talk: Any, number: int | str | None) -> int:
    """How many comments there are on the round with this number, or on the run as a whole."""
    counts: Mapping[str, int] = getattr(talk, "counts", {})
    return counts.get("" if number is None else str(number), 0)


@register.filter
def as_json(counts: Mapping[str, int]) -> str:
    """Counts for the page's script; escaped where it is shown like every other value."""
    return json.dumps(counts)
