"""Reads YAML as a tree with line numbers. Aliases, tags and deep nesting are not allowed."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import yaml
from yaml import events

MAX_BYTES = 1_000_000
MAX_DEPTH = 60
MAX_NODES = 50_000

# The C parser is much faster and produces the same events.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A problem in a file and its line."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.message}"


class BadFile(ValueError):
    """A file is not valid. `problems` are sorted by line."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = sorted(set(problems))
        super().__init__(" ".join(str(problem) for problem in self.problems))


@dataclass(slots=True)
class Scalar:
    line: int
    text: str
    plain: bool  # without quotes, so it may be a number, a boolean or null


@dataclass(slots=True)
class Items:
    line: int
    values: list["Node"] = field(default_factory=list)


@dataclass(slots=True)
class Fields:
    line: int
    values: dict[str, "Node"] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)  # the line of each key


Node: TypeAlias = Scalar | Items | Fields


def read_tree(
    text: str, what: str = "rubric", *, max_bytes: int = MAX_BYTES, max_nodes: int = MAX_NODES
) -> Fields:
    """The file as a tree. Raises BadFile for invalid YAML, unsupported features and exceeded limits."""
    if len(text.encode("utf-8", "surrogatepass")) > max_bytes:
        raise BadFile([Problem(1, f"The file is larger than the limit of {max_bytes:,} bytes.")])
    builder = Builder(what, max_nodes)
    try:
        root = builder.document(yaml.parse(text.removeprefix("\ufeff"), Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        raise BadFile([*builder.problems, _syntax_problem(error)]) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise BadFile([Problem(line, "This line has a character that is not allowed in YAML.")]) from None
    if builder.problems:
        raise BadFile(builder.problems)
    if not isinstance(root, Fields):
        raise BadFile([Problem(1, f"A {what} file must consist of keys and values.")])
    return root


class Builder:
    """Builds the tree from the parser's events and enforces the limits."""

    def __init__(self, what: str, max_nodes: int = MAX_NODES) -> None:
        self.what, self.max_nodes = what, max_nodes
        self.problems: list[Problem] = []
        self.nodes = 0

    def document(self, stream: Iterator[events.Event]) -> Node | None:
        """The one document of the stream."""
        root: Node | None = None
        documents = 0
        for event in stream:
            if isinstance(event, events.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    message = f"A second document starts here; a file may contain only one {self.what}."
                    self.problems.append(Problem(_line(event), message))
                    break
            elif isinstance(event, events.NodeEvent):
                root = self.node(event, stream, 0)
        return root

    def node(self, event: events.Event, stream: Iterator[events.Event], depth: int) -> Node:
        line = _line(event)
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > self.max_nodes:
            problem = "nested too deeply" if depth > MAX_DEPTH else "too long"
            raise BadFile([*self.problems, Problem(line, f"The file is {problem}.")])
        self.refuse_extras(event, line)
        if isinstance(event, events.SequenceStartEvent):
            return self.items(Items(line), stream, depth)
        if isinstance(event, events.MappingStartEvent):
            return self.fields(Fields(line), stream, depth)
        if isinstance(event, events.ScalarEvent):
            return Scalar(line, event.value, bool(event.implicit[0]))
        return Scalar(line, "", plain=True)  # an alias, which is already reported

    def refuse_extras(self, event: events.Event, line: int) -> None:
        """Reports anchors, aliases and tags, which are not allowed."""
        if isinstance(event, events.AliasEvent):
            message = f"The alias *{event.anchor} is not allowed; write the value here."
            self.problems.append(Problem(line, message))
            return
        anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
        if anchor:
            self.problems.append(Problem(line, f"The anchor &{anchor} is not allowed; remove it."))
        if tag:
            self.problems.append(Problem(line, f"The tag {tag} is not allowed; remove it."))

    def items(self, made: Items, stream: Iterator[events.Event], depth: int) -> Items:
        for event in stream:
            if isinstance(event, events.SequenceEndEvent):
                break
            made.values.append(self.node(event, stream, depth + 1))
        return made

    def fields(self, made: Fields, stream: Iterator[events.Event], depth: int) -> Fields:
        for event in stream:
            if isinstance(event, events.MappingEndEvent):
                break
            key = self.node(event, stream, depth + 1)
            value = self.node(next(stream), stream, depth + 1)
            if not isinstance(key, Scalar):
                self.problems.append(Problem(key.line, "A key must be text, not a list or a record."))
            elif key.text in made.values:
                first = made.lines[key.text]
                message = f"The key {key.text!r} is already used on line {first}."
                self.problems.append(Problem(key.line, message))
            else:
                made.values[key.text], made.lines[key.text] = value, key.line
                if not isinstance(value, Scalar):
                    value.line = key.line  # report a block at its key, not at its first entry
        return made


def _line(event: events.Event) -> int:
    mark = event.start_mark
    return mark.line + 1 if mark else 1


def _syntax_problem(error: yaml.MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    message = " ".join(part for part in (error.context, error.problem) if part)
    return Problem(mark.line + 1 if mark else 1, f"This is not valid YAML: {message}.")
