"""Filters for the pages of measurements."""

from django import template

from refinement.charts.quadrants import BOTTOM, LEFT, SIDE, TOP

register = template.Library()


@register.filter
def px(value: float) -> str:
    """A coordinate."""
    return f"{value:.1f}"


@register.filter
def to_right(x: float) -> str:
    return px(LEFT + SIDE - x)


@register.filter
def from_left(x: float) -> str:
    return px(x - LEFT)


@register.filter
def to_bottom(y: float) -> str:
    return px(BOTTOM - y)


@register.filter
def from_top(y: float) -> str:
    return px(y - TOP)


@register.filter
def signed(value: float) -> str:
    """A change with its sign, a proper minus included; 0.0 without one."""
    text = f"{value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", "−")
