"""Reads YAML of other tools: with anchors, aliases, merge keys and the standard tags, all bounded."""

from collections.abc import Iterator

import yaml
from yaml import events

from refinement.interchange.rubrics.yaml_reading import (
    MAX_NODES,
    BadFile,
    Builder,
    Fields,
    Items,
    Node,
    Problem,
    Scalar,
)

MAX_BYTES = 5_000_000
STANDARD = "tag:yaml.org,2002:"
MERGE = "<<"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def yaml_tree(text: str) -> Node | None:
    """The one document of the text; None if it is empty. Raises BadFile."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise BadFile([Problem(1, f"The file is larger than the limit of {MAX_BYTES:,} bytes.")])
    builder = AliasBuilder("eval")
    try:
        root = builder.document(yaml.parse(text.removeprefix("\ufeff"), Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = " ".join(part for part in (error.context, error.problem) if part)
        line = mark.line + 1 if mark else 1
        raise BadFile([*builder.problems, Problem(line, f"This is not valid YAML: {message}.")]) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise BadFile([Problem(line, "This line has a character that is not allowed in YAML.")]) from None
    if builder.problems:
        raise BadFile(builder.problems)
    return root


class AliasBuilder(Builder):
    """Resolves aliases to the anchored nodes. A node's size counts every use, so that a file stays small."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.anchors: dict[str, Node] = {}

    def node(self, event: events.Event, stream: Iterator[events.Event], depth: int) -> Node:
        if isinstance(event, events.AliasEvent):
            return self.aliased(event)
        made = super().node(event, stream, depth)
        anchor = getattr(event, "anchor", None)
        if anchor:
            self.anchors[anchor] = made
        return made

    def aliased(self, event: events.AliasEvent) -> Node:
        line = event.start_mark.line + 1 if event.start_mark else 1
        found = self.anchors.get(event.anchor or "")
        if found is None:
            self.problems.append(Problem(line, f"The alias *{event.anchor} has no anchor before it."))
            return Scalar(line, "", plain=True)
        self.nodes += size(found, MAX_NODES)
        if self.nodes > MAX_NODES:
            raise BadFile([*self.problems, Problem(line, "The file is too long once its aliases are read.")])
        return found

    def refuse_extras(self, event: events.Event, line: int) -> None:
        tag = getattr(event, "tag", None)
        if tag and tag != "!" and not tag.startswith(STANDARD):
            self.problems.append(Problem(line, f"The tag {tag} is not supported; remove it."))

    def fields(self, made: Fields, stream: Iterator[events.Event], depth: int) -> Fields:
        merged: list[tuple[int, Node]] = []
        for event in stream:
            if isinstance(event, events.MappingEndEvent):
                break
            key = self.node(event, stream, depth + 1)
            value = self.node(next(stream), stream, depth + 1)
            if not isinstance(key, Scalar):
                self.problems.append(Problem(key.line, "A key must be text, not a list or a record."))
            elif key.text == MERGE and key.plain:
                merged.append((key.line, value))
            elif key.text in made.values:
                message = f"The key {key.text!r} is already used on line {made.lines[key.text]}."
                self.problems.append(Problem(key.line, message))
            else:
                made.values[key.text], made.lines[key.text] = placed(value, key.line), key.line
        for line, value in merged:
            self.merge(made, value, line)
        return made

    def merge(self, made: Fields, value: Node, line: int) -> None:
        """Adds the keys of `<<: *anchor` that the mapping does not have itself."""
        for source in value.values if isinstance(value, Items) else [value]:
            if not isinstance(source, Fields):
                self.problems.append(Problem(line, "<< needs a mapping, or a list of mappings."))
                continue
            for key, inner in source.values.items():
                if key not in made.values:
                    made.values[key], made.lines[key] = inner, source.lines[key]


def placed(value: Node, line: int) -> Node:
    """A block is reported at its key. An aliased one keeps the line of its anchor."""
    if not isinstance(value, Scalar) and value.line > line:
        value.line = line
    return value


def size(node: Node, most: int) -> int:
    """How many nodes this one stands for, up to `most`."""
    count, waiting = 0, [node]
    while waiting and count <= most:
        here = waiting.pop()
        count += 1
        if not isinstance(here, Scalar):
            waiting += here.values.values() if isinstance(here, Fields) else here.values
    return count
