"""Checks the syntax tree of a custom template against what templates may use."""

from collections.abc import Iterator
from dataclasses import dataclass

from jinja2 import nodes

from refinement.judging.template_names import ATTRIBUTES, LISTS, TEMPLATE_NAMES

MAX_SOURCE_CHARS = 20_000
MAX_LOOP_DEPTH = 2
MAX_DEPTH = 40  # nesting of blocks and expressions
MAX_PROBLEMS = 30

ALLOWED = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.Getattr, nodes.If,
    nodes.For, nodes.Assign, nodes.Filter, nodes.Test, nodes.Compare, nodes.Operand, nodes.And, nodes.Or,
    nodes.Not, nodes.CondExpr, nodes.List, nodes.Keyword,
)  # fmt: skip
LOOP_FIELDS = frozenset({"index", "index0", "first", "last", "length", "revindex", "revindex0"})
MESSAGES = {
    nodes.Include: "include is not available; write the text here.",
    nodes.Import: "import is not available; write the text here.",
    nodes.FromImport: "import is not available; write the text here.",
    nodes.Extends: "extends is not available; write the whole template here.",
    nodes.Block: "block is not available; write the whole template here.",
    nodes.Macro: "macro is not available; write the text here.",
    nodes.Call: "Calls are not available; use the variables and filters listed for this template.",
    nodes.Concat: "~ is not available; write the values one after another.",
}


@dataclass(frozen=True, slots=True)
class TemplateProblem:
    """A problem in a template and its line."""

    line: int
    message: str


def forbidden_problem(tree: nodes.Template) -> TemplateProblem | None:
    """The first problem that forbids compiling the template, if any."""
    return _too_deep(tree) or next(_forbidden(tree), None)


def rule_problems(
    name: str, tree: nodes.Template, filters: frozenset[str], tests: frozenset[str]
) -> list[TemplateProblem]:
    """All rule violations in the template, by line. The template is not compiled."""
    if deep := _too_deep(tree):
        return [deep]
    problems = {
        *_forbidden(tree),
        *_taken_names(name, tree),
        *_unknown_fields(tree),
        *_bad_loops(name, tree, depth=0),
        *_unknown_filters_and_tests(tree, filters, tests),
        *_unknown_names(name, tree),
    }
    return sorted(problems, key=lambda problem: (problem.line, problem.message))[:MAX_PROBLEMS]


def _too_deep(tree: nodes.Template) -> TemplateProblem | None:
    """Checked first and without recursion, because all other checks are recursive."""
    pending: list[tuple[nodes.Node, int]] = [(tree, 0)]
    while pending:
        node, depth = pending.pop()
        if depth > MAX_DEPTH:
            return TemplateProblem(node.lineno, "The template is nested too deeply.")
        pending += [(child, depth + 1) for child in node.iter_child_nodes()]
    return None


def _forbidden(node: nodes.Node) -> Iterator[TemplateProblem]:
    """The outermost forbidden nodes. Their contents are not reported."""
    for child in node.iter_child_nodes():
        if not isinstance(child, ALLOWED):
            other = f"{type(child).__name__} is not available in a template."
            yield TemplateProblem(child.lineno, MESSAGES.get(type(child), other))
        elif isinstance(child, nodes.List) and not all(isinstance(item, nodes.Const) for item in child.items):
            yield TemplateProblem(child.lineno, "A list in a template may contain only texts and numbers.")
        else:
            yield from _forbidden(child)


def _unknown_names(name: str, tree: nodes.Template) -> Iterator[TemplateProblem]:
    known = TEMPLATE_NAMES[name]
    first: dict[str, int] = {}
    for node in _undeclared(tree, set(known)):
        first[node.name] = min(node.lineno, first.get(node.name, node.lineno))
    for unknown, line in first.items():
        listed = ", ".join(sorted(known))
        yield TemplateProblem(line, f"Unknown variable {unknown!r}. Available: {listed}.")


def _undeclared(node: nodes.Node, known: set[str]) -> Iterator[nodes.Name]:
    """Names that are read but not defined. Names assigned with `set` are added to `known`."""
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
    elif isinstance(node, ALLOWED):  # contents of forbidden nodes are not reported
        for child in node.iter_child_nodes():
            yield from _undeclared(child, known)


def _targets(target: nodes.Node) -> set[str]:
    names = [target] if isinstance(target, nodes.Name) else target.find_all(nodes.Name)
    return {name.name for name in names}


def _taken_names(name: str, tree: nodes.Template) -> Iterator[TemplateProblem]:
    for node in tree.find_all(nodes.Name):
        if node.ctx == "store" and (node.name in TEMPLATE_NAMES[name] or node.name == "loop"):
            yield TemplateProblem(node.lineno, f"{node.name!r} is already defined; choose another name.")


def _unknown_fields(tree: nodes.Template) -> Iterator[TemplateProblem]:
    for node in tree.find_all(nodes.Getattr):
        of_loop = isinstance(node.node, nodes.Name) and node.node.name == "loop"
        if node.attr not in (LOOP_FIELDS if of_loop else ATTRIBUTES):
            yield TemplateProblem(node.lineno, f"Unknown field {node.attr!r}.")


def _unknown_filters_and_tests(
    tree: nodes.Template, filters: frozenset[str], tests: frozenset[str]
) -> Iterator[TemplateProblem]:
    for kind, known, label in ((nodes.Filter, filters, "filter"), (nodes.Test, tests, "test")):
        for node in tree.find_all(kind):
            if node.name not in known:
                listed = ", ".join(sorted(known))
                yield TemplateProblem(node.lineno, f"Unknown {label} {node.name!r}. Available: {listed}.")


def _bad_loops(name: str, node: nodes.Node, depth: int) -> Iterator[TemplateProblem]:
    """Loops that do not iterate over an available list, are recursive or are nested too deeply."""
    for child in node.iter_child_nodes():
        inside = depth
        if isinstance(child, nodes.For):
            inside = depth + 1
            if not _is_available_list(name, child.iter):
                known = ", ".join(sorted(LISTS & TEMPLATE_NAMES[name].keys())) or "none"
                yield TemplateProblem(child.lineno, f"A loop must iterate over an available list: {known}.")
            if child.recursive:
                yield TemplateProblem(child.lineno, "A loop cannot be recursive.")
            if inside > MAX_LOOP_DEPTH:
                yield TemplateProblem(child.lineno, f"Loops can be nested at most {MAX_LOOP_DEPTH} deep.")
        yield from _bad_loops(name, child, inside)


def _is_available_list(name: str, node: nodes.Node) -> bool:
    if isinstance(node, nodes.Getattr):
        return node.attr in LISTS
    return isinstance(node, nodes.Name) and node.name in LISTS & TEMPLATE_NAMES[name].keys()
