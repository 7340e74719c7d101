"""What an editor's template may contain: read from its syntax tree, reported by line."""

from collections.abc import Iterator
from dataclasses import dataclass

from jinja2 import nodes

from refinement.judging.template_names import ATTRIBUTES, LISTS, TEMPLATE_NAMES

MAX_SOURCE_CHARS = 20_000
MAX_LOOP_DEPTH = 2
MAX_DEPTH = 40  # of blocks and expressions inside one another
MAX_PROBLEMS = 30

ALLOWED = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.Getattr, nodes.If,
    nodes.For, nodes.Assign, nodes.Filter, nodes.Test, nodes.Compare, nodes.Operand, nodes.And, nodes.Or,
    nodes.Not, nodes.CondExpr, nodes.List, nodes.Keyword,
)  # fmt: skip
LOOP_FIELDS = frozenset({"index", "index0", "first", "last", "length", "revindex", "revindex0"})
WORDS = {
    nodes.Include: "include is not available; write the text here.",
    nodes.Import: "import is not available; write the text here.",
    nodes.FromImport: "import is not available; write the text here.",
    nodes.Extends: "extends is not available; a template stands alone.",
    nodes.Block: "block is not available; a template stands alone.",
    nodes.Macro: "macro is not available; write the text out.",
    nodes.Call: "Calls are not available; use the variables and filters listed for this template.",
    nodes.Concat: "~ is not available; write the values one after another.",
}


@dataclass(frozen=True, slots=True)
class TemplateProblem:
    """One thing to change in a template, and the line it is on."""

    line: int
    message: str


def forbidden_problem(tree: nodes.Template) -> TemplateProblem | None:
    """The first thing that must not even be compiled, if there is one."""
    return _too_deep(tree) or next(_forbidden(tree), None)


def rule_problems(
    name: str, tree: nodes.Template, filters: frozenset[str], tests: frozenset[str]
) -> list[TemplateProblem]:
    """Every use of something that this template may not use, by line. Nothing is compiled for it."""
    if deep := _too_deep(tree):
        return [deep]
    found = {
        *_forbidden(tree),
        *_taken_names(name, tree),
        *_unknown_fields(tree),
        *_bad_loops(name, tree, depth=0),
        *_unknown_words(tree, filters, tests),
        *_unknown_names(name, tree),
    }
    return sorted(found, key=lambda problem: (problem.line, problem.message))[:MAX_PROBLEMS]


def _too_deep(tree: nodes.Template) -> TemplateProblem | None:
    """Looked at first, and without recursion: everything else here goes down the tree."""
    waiting: list[tuple[nodes.Node, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MAX_DEPTH:
            return TemplateProblem(node.lineno, "The template is nested too deeply; write it flatter.")
        waiting += [(child, depth + 1) for child in node.iter_child_nodes()]
    return None


def _forbidden(node: nodes.Node) -> Iterator[TemplateProblem]:
    """The outermost things that are not available; what stands inside them is not reported again."""
    for child in node.iter_child_nodes():
        if not isinstance(child, ALLOWED):
            other = f"{type(child).__name__} is not available in a template."
            yield TemplateProblem(child.lineno, WORDS.get(type(child), other))
        elif isinstance(child, nodes.List) and not all(isinstance(item, nodes.Const) for item in child.items):
            yield TemplateProblem(child.lineno, "A list in a template may hold plain texts and numbers only.")
        else:
            yield from _forbidden(child)


def _unknown_names(name: str, tree: nodes.Template) -> Iterator[TemplateProblem]:
    known = TEMPLATE_NAMES[name]
    first: dict[str, int] = {}
    for node in _undeclared(tree, set(known)):
        first[node.name] = min(node.lineno, first.get(node.name, node.lineno))
    for unknown, line in first.items():
        listed = ", ".join(sorted(known))
        yield TemplateProblem(line, f"There is no variable {unknown!r}; this template has {listed}.")


def _undeclared(node: nodes.Node, known: set[str]) -> Iterator[nodes.Name]:
    """Names that are read and have no value there; what `set` names in passing is added to `known`."""
    if isinstance(node, nodes.Name):
        if node.ctx == "load" and node.name not in known:
            yield node
    elif isinstance(node, nodes.Assign):
        yield from _undeclared(node.node, known)
        known |= _targets(node.target)
    elif isinstance(node, nodes.For):
        yield from _undeclared(node.iter, known)
        inside = known | _targets(node.target) | {"loop"}
        for child in (*([node.test] if node.test else []), *node.body):
            yield from _undeclared(child, inside)
        outside = set(known)
        for child in node.else_:
            yield from _undeclared(child, outside)
    elif isinstance(node, ALLOWED):  # what stands inside anything else is not reported again
        for child in node.iter_child_nodes():
            yield from _undeclared(child, known)


def _targets(target: nodes.Node) -> set[str]:
    names = [target] if isinstance(target, nodes.Name) else target.find_all(nodes.Name)
    return {name.name for name in names}


def _taken_names(name: str, tree: nodes.Template) -> Iterator[TemplateProblem]:
    for node in tree.find_all(nodes.Name):
        if node.ctx == "store" and (node.name in TEMPLATE_NAMES[name] or node.name == "loop"):
            yield TemplateProblem(node.lineno, f"{node.name!r} has a value already; choose another name.")


def _unknown_fields(tree: nodes.Template) -> Iterator[TemplateProblem]:
    for node in tree.find_all(nodes.Getattr):
        of_loop = isinstance(node.node, nodes.Name) and node.node.name == "loop"
        if node.attr not in (LOOP_FIELDS if of_loop else ATTRIBUTES):
            yield TemplateProblem(node.lineno, f"There is no field {node.attr!r} in any value given here.")


def _unknown_words(
    tree: nodes.Template, filters: frozenset[str], tests: frozenset[str]
) -> Iterator[TemplateProblem]:
    for kind, known, word in ((nodes.Filter, filters, "filter"), (nodes.Test, tests, "test")):
        for node in tree.find_all(kind):
            if node.name not in known:
                listed = ", ".join(sorted(known))
                yield TemplateProblem(node.lineno, f"There is no {word} {node.name!r}; there are {listed}.")


def _bad_loops(name: str, node: nodes.Node, depth: int) -> Iterator[TemplateProblem]:
    """Loops that are not over a given list, that call themselves or that stand too deep."""
    for child in node.iter_child_nodes():
        inside = depth
        if isinstance(child, nodes.For):
            inside = depth + 1
            if not _is_given_list(name, child.iter):
                known = ", ".join(sorted(LISTS & TEMPLATE_NAMES[name].keys())) or "none"
                yield TemplateProblem(child.lineno, f"A loop must go over a list it is given: {known}.")
            if child.recursive:
                yield TemplateProblem(child.lineno, "A loop cannot be recursive.")
            if inside > MAX_LOOP_DEPTH:
                yield TemplateProblem(child.lineno, f"Loops can be nested {MAX_LOOP_DEPTH} deep, not deeper.")
        yield from _bad_loops(name, child, inside)


def _is_given_list(name: str, node: nodes.Node) -> bool:
    if isinstance(node, nodes.Getattr):
        return node.attr in LISTS
    return isinstance(node, nodes.Name) and node.name in LISTS & TEMPLATE_NAMES[name].keys()
