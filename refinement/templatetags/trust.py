"""Filters and tags for pages about judges."""

from collections.abc import Mapping
from typing import Any

from django import template

from refinement.charts.axes import at
from refinement.charts.intervals import number_text
from refinement.selectors.trust.disagreements import Case, score_words

register = template.Library()

WIDTH, INSET = 120, 6


@register.filter
def score(value: float | None) -> str:
    return score_words(value)


@register.filter
def two(value: float | None) -> str:
    """A figure with two decimals and a proper minus."""
    return "–" if value is None else number_text(value, 2)


@register.inclusion_tag("refinement/trust/_gap.html")
def gap(case: Case, scale: Mapping[str, Any]) -> dict[str, str]:
    """The judge's score and the mean of people's on the rubric's scale."""
    least, most = float(scale["least"]), float(scale["most"])

    def x(value: float | None) -> str:
        if value is None or most <= least:
            return ""
        share = (min(max(value, least), most) - least) / (most - least)
        return at(INSET + share * (WIDTH - 2 * INSET))

    return {
        "judge": score(case.judge),
        "people": score(case.people),
        "judge_x": x(case.judge),
        "people_x": x(case.people),
    }
