"""What an editor's template may contain: read from its syntax tree, reported by line."""

from collections.abc import Iterator
from dataclasses import dataclass

from jinja2 import meta, nodes

from refinement.judging.template_names import ATTRIBUTES, LISTS, TEMPLATE_NAMES

MAX_SOURCE_CHARS = 20_000
MAX_LOOP_DEPTH = 2

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


def rule_problems(
    name: str, tree: nodes.Template, filters: frozenset[str], tests: frozenset[str]
) -> list[TemplateProblem]:
    """Every use of something that this template may not use, by line."""
    unknown_words = list(_unknown_words(tree, filters, tests))
    found = [
        *_forbidden(tree),
        *_taken_names(name, tree),
        *_unknown_fields(tree),
        *_bad_loops(name, tree, depth=0),
        # Jinja2 finds names by compiling, and compiling stops at the first filter it does not know.
        *(unknown_words or _unknown_names(name, tree)),
    ]
    return sorted(set(found), key=lambda problem: (problem.line, problem.message))


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
    for unknown in meta.find_undeclared_variables(tree) - known.keys():
        lines = [node.lineno for node in tree.find_all(nodes.Name) if node.name == unknown]
        listed = ", ".join(sorted(known))
        yield TemplateProblem(min(lines), f"There is no variable {unknown!r}; this template has {listed}.")


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
