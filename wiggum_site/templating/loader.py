"""Loads templates as Django's cached loader does, and makes their nodes swift ones."""

from collections.abc import Iterable
from typing import Any

from django.template import Node, NodeList, Origin, Template
from django.template.base import FilterExpression, Variable
from django.template.loaders import base, cached
from django.template.smartif import TokenBase
from django.utils.safestring import mark_safe

from wiggum_site.templating.nodes import SWIFT, SwiftNode, SwiftNodeList
from wiggum_site.templating.values import SwiftExpression, SwiftVariable


class SwiftLoader(base.Loader):
    """Comes between the cache and the files: a template is made swift before anybody else has it."""

    def get_template(self, template_name: str, skip: list[Origin] | None = None) -> Template:
        template = super().get_template(template_name, skip)
        # Templates under development keep Django's nodes, which tell where in them an error is.
        if not template.engine.debug:
            template.nodelist = swift_list(template.nodelist)
        return template


class Loader(cached.Loader, SwiftLoader):
    """What the settings name, with the loaders that find the files."""


def swift_list(nodes: NodeList) -> SwiftNodeList:
    for node in nodes:
        make_swift(node)
    return SwiftNodeList.of(nodes)


def make_swift(node: Node) -> None:
    """The node, its expressions and the nodes in it; nodes that other libraries made keep their ways."""
    for name, value in vars(node).items():
        setattr(node, name, swift_value(value))
    if swift := SWIFT.get(type(node)):
        node.__class__ = swift
        if isinstance(node, SwiftNode):
            node.get_ready()


def swift_value(value: Any) -> Any:
    """What a node holds: lists of nodes are made anew, everything else is changed in its place."""
    if type(value) is NodeList:
        return swift_list(value)
    if type(value) is FilterExpression:
        make_swift_expression(value)
    elif type(value) is Variable:
        value.__class__ = SwiftVariable
    elif isinstance(value, TokenBase):  # a condition
        for part in ("first", "second", "value"):
            swift_value(getattr(value, part, None))
    elif type(value) is dict:
        return {key: swift_value(entry) for key, entry in value.items()}
    elif type(value) in (list, tuple):
        return type(value)(map(swift_value, value))
    return value


def make_swift_expression(expression: FilterExpression) -> None:
    if isinstance(expression.var, Variable):
        expression.var.__class__ = SwiftVariable
    expression.filters = [(function, list(swift_arguments(given))) for function, given in expression.filters]
    expression.__class__ = SwiftExpression


def swift_arguments(given: Iterable[tuple[bool, Any]]) -> Iterable[tuple[bool, Any]]:
    for is_name, argument in given:
        yield is_name, swift_value(argument) if is_name else mark_safe(argument)  # noqa: S308  as Django does
