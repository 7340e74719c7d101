"""How a name in a template becomes a value, and a value text: Django's rules without their detours.

Django tries every name as a key first and takes each exception as the way to the next try; it asks of every
value whether it is lazy, a time or a number. Here the ways that nearly all values go come first, and
everything else is left to Django.
"""

from html import escape
from inspect import signature
from typing import Any

from django.template import Context, VariableDoesNotExist
from django.template.base import FilterExpression, Variable, render_value_in_context
from django.utils import timezone
from django.utils.safestring import SafeData, SafeString, mark_safe

MISSING: Any = object()
NO_KEY = (TypeError, AttributeError, KeyError, ValueError, IndexError)
# An attribute that these lack is no error out of a property.
BUILT_IN = frozenset({str, SafeString, dict, int, bool, type(None)})


def written(value: Any, context: Context) -> str:
    """The value as it stands on the page."""
    kind = type(value)
    if kind is SafeString:
        safe: str = value
        return safe
    if kind is str:
        return escape(value) if context.autoescape else value
    if kind is int:
        return str(value)
    text: str = render_value_in_context(value, context)
    return text


def found(names: tuple[str, ...], context: Context) -> Any:
    """What the dotted name stands for here; MISSING where there is no such thing."""
    first = names[0]
    for scope in reversed(context.dicts):
        if first in scope:
            current = scope[first]
            break
    else:
        current = vars(context).get(first, MISSING)
        if current is MISSING or hasattr(type(context), first):
            return MISSING
    return walked(current, names[1:], context)


def walked(current: Any, names: tuple[str, ...], context: Context) -> Any:
    """From a value on to what these names lead to."""
    try:
        if callable(current):
            current = called(current, context)
        for name in names:
            current = (
                inside(current, name) if hasattr(type(current), "__getitem__") else attribute(current, name)
            )
            if current is MISSING:
                return MISSING
            if callable(current):
                current = called(current, context)
    except Exception as error:
        if getattr(error, "silent_variable_failure", False):
            return invalid(context)
        raise
    return current


def invalid(context: Context) -> str:
    """What stands for a value that there is not."""
    return context.template.engine.string_if_invalid if context.template else ""


def inside(current: Any, name: str) -> Any:
    """By key, else by attribute."""
    if type(current) is str or type(current) is SafeString:
        return attribute(current, name)
    try:
        return current[name]
    except NO_KEY:
        return attribute(current, name)


def attribute(current: Any, name: str) -> Any:
    """By attribute, else by position."""
    try:
        return getattr(current, name)
    except (TypeError, AttributeError):
        if type(current) not in BUILT_IN and name in dir(current):
            raise  # out of a property, which is an error and no missing name
    if not name.isdecimal():
        return MISSING
    try:
        return current[int(name)]
    except NO_KEY:
        return MISSING


def called(current: Any, context: Context) -> Any:
    """What it gives when it is called, where templates may call it."""
    if getattr(current, "do_not_call_in_templates", False):
        return current
    if getattr(current, "alters_data", False):
        return invalid(context)
    try:
        return current()
    except TypeError:
        try:
            signature(current).bind()
        except (TypeError, ValueError):  # it wants arguments, or does not say
            return invalid(context)
        raise


class SwiftVariable(Variable):
    """A name, or a value written out in the template."""

    __slots__ = ()

    def resolve(self, context: Any) -> Any:
        if self.lookups is None or self.translate:
            return super().resolve(context)
        value = found(self.lookups, context)
        if value is MISSING:
            raise VariableDoesNotExist("There is no %s here.", (self.var,))
        return value


class SwiftExpression(FilterExpression):
    """A variable with its filters; the text in its arguments is marked as safe already."""

    __slots__ = ()

    def resolve(self, context: Context, ignore_failures: bool = False) -> Any:
        value = self.var
        if self.is_var:
            value = (
                value.resolve(context)
                if value.lookups is None or value.translate
                else found(value.lookups, context)
            )
            if value is MISSING:
                value = None if ignore_failures else invalid(context)
                if value:
                    return super().resolve(context, ignore_failures)
        for function, arguments in self.filters:
            given = [argument.resolve(context) if is_name else argument for is_name, argument in arguments]
            if getattr(function, "expects_localtime", False):
                value = timezone.template_localtime(value, context.use_tz)  # type: ignore[attr-defined]
            if getattr(function, "needs_autoescape", False):
                changed = function(value, *given, autoescape=context.autoescape)
            else:
                changed = function(value, *given)
            if getattr(function, "is_safe", False) and isinstance(value, SafeData):
                changed = mark_safe(changed)  # noqa: S308  as Django does
            value = changed
        return value
