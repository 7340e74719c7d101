"""Nodes that render as Django's own do, with fewer steps between the template and its text."""

from typing import Any

from django.template import Context, Node, NodeList, VariableDoesNotExist
from django.template.base import FilterExpression, TextNode, VariableNode
from django.template.defaulttags import CsrfTokenNode, ForNode, IfNode, TemplateLiteral, URLNode, WithNode
from django.template.library import SimpleNode
from django.template.smartif import TokenBase
from django.utils.html import conditional_escape, escape
from django.utils.safestring import SafeString

from wiggum_site.templating.addresses import Addresses
from wiggum_site.templating.reading import Read, Write, constant, reader, writer
from wiggum_site.templating.values import found


class SwiftNodeList(NodeList):
    """Asks each node for its text and leaves out what only Django's page about errors needs."""

    parts: tuple[Any, ...]  # text as it is, and how to get the rest

    @classmethod
    def of(cls, nodes: NodeList) -> "SwiftNodeList":
        made = cls(nodes)
        made.contains_nontext = nodes.contains_nontext
        made.parts = tuple(part_of(node) for node in made)
        return made

    def render(self, context: Context) -> SafeString:
        return SafeString("".join([part if part.__class__ is str else part(context) for part in self.parts]))

    def writer(self) -> Write:
        """The same for a node that has this list in it, which needs no mark that the text is safe."""
        parts = self.parts
        if all(part.__class__ is str for part in parts):
            return constant("".join(parts))
        if len(parts) == 1:
            only: Write = parts[0]
            return only
        return lambda context: "".join([part if part.__class__ is str else part(context) for part in parts])


def part_of(node: Node) -> str | Write:
    if type(node) is TextNode:
        text: str = node.s
        return text
    if type(node) is VariableNode:
        return writer(node.filter_expression)
    render: Write = node.render
    return render


class SwiftNode:
    """A node that gets itself ready when its template is loaded."""

    def get_ready(self) -> None:
        raise NotImplementedError


class SwiftForNode(ForNode, SwiftNode):
    loopvars: list[str]
    sequence: FilterExpression
    values_of: Read
    turn: Write
    nodelist_loop: SwiftNodeList
    nodelist_empty: SwiftNodeList

    def get_ready(self) -> None:
        self.values_of = reader(self.sequence, lenient=True)
        self.turn = self.nodelist_loop.writer()

    def render(self, context: Context) -> str:
        around = found(("forloop",), context)
        with context.push():
            values = self.values_of(context)
            if values is None:
                values = ()
            if not hasattr(values, "__len__"):
                values = list(values)
            if not len(values):
                return self.nodelist_empty.render(context)
            return "".join(self.turns(context, values, around))

    def turns(self, context: Context, values: Any, around: Any) -> list[str]:
        """The text of each turn."""
        size, names, turn = len(values), self.loopvars, self.turn
        texts: list[str] = []
        loop: dict[str, Any] = {"parentloop": around if isinstance(around, dict) else {}}
        scope = context.dicts[-1]
        scope["forloop"] = loop
        for place, item in enumerate(reversed(values) if self.is_reversed else values):
            loop["counter0"], loop["counter"] = place, place + 1
            loop["revcounter0"], loop["revcounter"] = size - place - 1, size - place
            loop["first"], loop["last"] = place == 0, place == size - 1
            if len(names) == 1:
                scope[names[0]] = item
                texts.append(turn(context))
            else:
                with context.update(unpacked(names, item)):
                    texts.append(turn(context))
        return texts


def unpacked(names: list[str], item: Any) -> dict[str, Any]:
    """The item's values under their names."""
    values = tuple(item) if hasattr(item, "__len__") else (item,)
    if len(values) != len(names):
        raise ValueError(f"Need {len(names)} values to unpack in for loop; got {len(values)}. ")
    return dict(zip(names, values, strict=True))


class SwiftIfNode(IfNode, SwiftNode):
    conditions_nodelists: Any
    branches: tuple[tuple[Read, Write], ...]

    def get_ready(self) -> None:
        self.branches = tuple(
            (constant(True) if condition is None else test_of(condition), nodes.writer())
            for condition, nodes in self.conditions_nodelists
        )

    def render(self, context: Context) -> str:
        for test, text in self.branches:
            try:
                holds = test(context)
            except VariableDoesNotExist:
                continue
            if holds:
                return text(context)
        return ""


def test_of(condition: Any) -> Read:
    """Whether the condition holds; its operators stay Django's, and get their values the short way."""
    if isinstance(condition, TemplateLiteral):
        expression: Any = condition.value
        return reader(expression, lenient=True)
    for part in (condition.first, condition.second):
        if isinstance(part, TokenBase):
            vars(part)["eval"] = test_of(part)
    holds: Read = condition.eval
    return holds


class SwiftWithNode(WithNode, SwiftNode):
    nodelist: SwiftNodeList
    values: dict[str, Read]
    text: Write

    def get_ready(self) -> None:
        self.values = {name: reader(expression) for name, expression in self.extra_context.items()}
        self.text = self.nodelist.writer()

    def render(self, context: Context) -> str:
        with context.push(**{name: read(context) for name, read in self.values.items()}):
            return self.text(context)


class SwiftURLNode(URLNode, SwiftNode):
    values: tuple[Read, ...]

    def get_ready(self) -> None:
        self.values = tuple(map(reader, self.args))

    def render(self, context: Context) -> str:
        address = None
        if not self.kwargs:
            given = [read(context) for read in self.values]
            address = Addresses.of(context).address(self.view_name.resolve(context), given)
        if address is None:
            text: str = super().render(context)
            return text
        if self.asvar:
            context[self.asvar] = address
            return ""
        return address


class SwiftCsrfTokenNode(CsrfTokenNode):
    def render(self, context: Context) -> str:
        token = str(context.get("csrf_token") or "")
        if not token or token == "NOTPROVIDED":
            text: str = super().render(context)
            return text
        return f'<input type="hidden" name="csrfmiddlewaretoken" value="{escape(token)}">'


class SwiftSimpleNode(SimpleNode, SwiftNode):
    values: tuple[Read, ...]

    def get_ready(self) -> None:
        self.values = tuple(map(reader, self.args))

    def render(self, context: Context) -> str:
        if self.takes_context or self.kwargs or self.target_var is not None:
            text: str = super().render(context)
            return text
        output = self.func(*[read(context) for read in self.values])
        if type(output) is SafeString or not context.autoescape:
            return output  # type: ignore[no-any-return]
        escaped: str = conditional_escape(output)
        return escaped


SWIFT: dict[type[Node], type[Node]] = {
    ForNode: SwiftForNode,
    IfNode: SwiftIfNode,
    WithNode: SwiftWithNode,
    URLNode: SwiftURLNode,
    CsrfTokenNode: SwiftCsrfTokenNode,
    SimpleNode: SwiftSimpleNode,
}
