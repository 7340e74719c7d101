"""Expressions as functions of the context, made once when a template is loaded.

A page asks for thousands of names, nearly all of them attributes of plain objects. The way to those is short;
where something else stands on it, `values` goes on from there by Django's rules.
"""

from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any

from django.forms import BoundField
from django.template import Context
from django.template.base import FilterExpression
from django.utils import timezone
from django.utils.safestring import SafeData, SafeString, mark_safe

from wiggum_site.templating.values import MISSING, found, walked, written

Read = Callable[[Context], Any]
Write = Callable[[Context], str]


def reader(expression: FilterExpression, *, lenient: bool = False) -> Read:
    """What the expression stands for in a context; where that is nothing and `lenient`, None."""
    if not expression.is_var:
        return constant(expression.var) if not expression.filters else expression.resolve
    if expression.var.lookups is None or expression.var.translate:
        return partial(expression.resolve, ignore_failures=lenient)
    value_of, filters = named(expression.var.lookups), tuple(map(Filter, expression.filters))
    nothing = lenient and not filters

    def read(context: Context) -> Any:
        value = value_of(context)
        if value is MISSING:
            return None if nothing else expression.resolve(context, lenient)
        for each in filters:
            value = each(value, context)
        return value

    return read


def writer(expression: FilterExpression) -> Write:
    """What the expression writes on the page."""
    read = reader(expression)

    def write(context: Context) -> str:
        try:
            value = read(context)
        except UnicodeDecodeError:
            return ""
        kind = type(value)
        if kind is str:
            return escape(value) if context.autoescape else value
        if kind is SafeString:
            return value  # type: ignore[no-any-return]
        return written(value, context)

    return write


def constant(value: Any) -> Read:
    return lambda _: value


class Filter:
    """A filter with its arguments; what it says of itself is asked once."""

    __slots__ = ("arguments", "autoescape", "function", "localtime", "safe")

    def __init__(self, given: tuple[Callable[..., Any], list[tuple[bool, Any]]]) -> None:
        self.function, arguments = given
        self.arguments: tuple[Read, ...] = tuple(
            argument.resolve if is_name else constant(argument) for is_name, argument in arguments
        )
        self.localtime, self.autoescape, self.safe = (
            bool(getattr(self.function, name, False))
            for name in ("expects_localtime", "needs_autoescape", "is_safe")
        )

    def __call__(self, value: Any, context: Context) -> Any:
        given = [read(context) for read in self.arguments]
        if self.localtime:
            value = timezone.template_localtime(value, context.use_tz)  # type: ignore[attr-defined]
        if self.autoescape:
            changed = self.function(value, *given, autoescape=context.autoescape)
        else:
            changed = self.function(value, *given)
        if self.safe and isinstance(value, SafeData):
            return mark_safe(changed)  # noqa: S308  as Django does
        return changed


def named(names: tuple[str, ...]) -> Read:
    """What the dotted name stands for; MISSING where there is no such thing.

    A form's field has its controls under numbers and refuses every name, which takes it long to say.
    """
    first = names[0]
    steps = tuple((name, names[place:]) for place, name in enumerate(names) if place)

    def value_of(context: Context) -> Any:
        for scope in reversed(context.dicts):
            if first in scope:
                value = scope[first]
                break
        else:
            return found(names, context)
        for name, rest in steps:
            if callable(value):
                return walked(value, rest, context)
            try:
                if type(value) is dict:
                    value = value[name]
                elif hasattr(type(value), "__getitem__") and type(value) is not BoundField:
                    return walked(value, rest, context)
                else:
                    value = getattr(value, name)
            except Exception:  # noqa: BLE001  met again on the way by Django's rules, which say what it means
                return walked(value, rest, context)
        return walked(value, (), context) if callable(value) else value

    return value_of
