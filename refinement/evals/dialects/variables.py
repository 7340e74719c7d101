"""Reads `vars`: values, files, globs and lists that make several cases."""

import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from refinement.evals.dialects.reader import Reader, without_scheme
from refinement.evals.filling import FILE
from refinement.evals.sources.plain import data, text_of
from refinement.evals.types import Dialect
from refinement.interchange.imports.fields import Missing, is_nothing
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node, Scalar

MOST_COMBINATIONS = 10_000
LABEL_CHARS = 120
DEPTH = 4  # of vars that use other vars
OUTPUT = re.compile(r"\{\{-?\s*([A-Za-z_]\w*)\s*(?:\|[^{}]*)?-?\}\}")
UNKNOWN = "No var has this name, so it stays as it is."


@dataclass(frozen=True, slots=True)
class Variables:
    """Values by name, and the names whose lists make one case per entry."""

    values: Mapping[str, object] = field(default_factory=dict)
    several: frozenset[str] = frozenset()

    def over(self, other: "Variables") -> "Variables":
        """These, with the other's for names that are not set here."""
        return Variables({**other.values, **self.values}, self.several | (other.several - self.values.keys()))

    def combinations(self, expand: bool = True) -> Iterator[tuple[str, dict[str, object]]]:
        """Every combination of the lists, with a label that tells them apart."""
        names = [name for name in self.values if expand and name in self.several]
        for chosen in itertools.product(*(self.listed(name) for name in names)):
            picked = dict(zip(names, chosen, strict=True))
            label = ", ".join(
                f"{name}={brief_value(value)}" for name, value in picked.items() if len(self.listed(name)) > 1
            )
            yield label[:LABEL_CHARS], {**self.values, **picked}

    def count(self, expand: bool = True) -> int:
        return math.prod(len(self.listed(name)) for name in self.several if expand and name in self.values)

    def listed(self, name: str) -> list[object]:
        value = self.values[name]
        return value if isinstance(value, list) else [value]


def brief_value(value: object) -> str:
    return " ".join(text_of(value).split())[:40]


class VariableReader:
    """Reads the vars of one file."""

    def __init__(self, reader: Reader) -> None:
        self.reader, self.log = reader, reader.log

    def read(self, node: Node | None, name: str) -> Variables:
        if is_nothing(node):
            return Variables()
        if isinstance(node, Scalar):
            return self.from_files([node], name)
        if isinstance(node, Items):
            return self.from_files([entry for entry in node.values if isinstance(entry, Scalar)], name)
        assert isinstance(node, Fields)
        values: dict[str, object] = {}
        several: set[str] = set()
        for key, value in node.values.items():
            read = self.value(value, f"{name}.{key}")
            if isinstance(read, Missing):
                continue
            values[key] = read
            if self.is_several(read):
                several.add(key)
        return Variables(values, frozenset(several))

    def is_several(self, value: object) -> bool:
        """Promptfoo makes one case per entry of a list of texts."""
        return (
            self.reader.dialect == Dialect.PROMPTFOO
            and isinstance(value, list)
            and bool(value)
            and isinstance(value[0], str)
        )

    def from_files(self, nodes: list[Scalar], name: str) -> Variables:
        """Vars that are in YAML or JSON files of their own."""
        found = Variables()
        for node in nodes:
            paths = self.reader.matching(without_scheme(node.text))
            if not paths:
                self.log.add(node.line, f"{name}: the file {without_scheme(node.text)} was not found.")
            for path in paths:
                read = self.reader.content(path, node.line, name)
                tree = self.reader.tree(*read) if isinstance(read, tuple) else Missing()
                if isinstance(tree, Fields):
                    with self.log.inside(path):
                        found = self.read(tree, "vars").over(found)
        return found

    def value(self, node: Node, name: str) -> object | Missing:
        if isinstance(node, Scalar) and node.text.startswith(FILE):
            return self.file(node, name)
        if isinstance(node, Items):
            entries = [self.value(entry, name) for entry in node.values]
            return [entry for entry in entries if not isinstance(entry, Missing)]
        if isinstance(node, Fields):
            return {key: data(value) for key, value in node.values.items()}
        return data(node)

    def file(self, node: Scalar, name: str) -> object | Missing:
        """The file's text; YAML and JSON become JSON text. A pattern makes a list."""
        wanted = without_scheme(self.reader.filled(node.text, {}, node.line, name))
        paths = self.reader.matching(wanted)
        if len(paths) > 1:
            texts = [self.reader.content(path, node.line, name) for path in paths]
            return [read[1] for read in texts if isinstance(read, tuple)]
        read = (
            self.reader.content(paths[0], node.line, name)
            if paths
            else self.reader.text(wanted, node.line, name)
        )
        if isinstance(read, Missing):
            return read
        path, text = read
        if path.suffix.lower() in (".yaml", ".yml", ".json"):
            tree = self.reader.tree(path, text)
            return tree if isinstance(tree, Missing) else json.dumps(data(tree), ensure_ascii=False)
        return text.strip()

    def filled(self, values: Mapping[str, object], line: int, name: str) -> dict[str, object]:
        """The values with the other values filled in, as a var may use others."""
        made = dict(values)
        for _ in range(DEPTH):
            before = made
            made = {
                key: self.reader.filled(str(value), made, line, name) if needs_filling(value, made) else value
                for key, value in made.items()
            }
            if made == before:
                break
        for left in (match[1] for value in made.values() for match in unfilled(value)):
            if left not in made:
                self.reader.log.ignore(line, f"{{{{ {left} }}}} in vars", UNKNOWN)
        return made


def unfilled(value: object) -> Iterator[re.Match[str]]:
    return OUTPUT.finditer(value) if isinstance(value, str) else iter(())


def needs_filling(value: object, values: Mapping[str, object]) -> bool:
    """Whether this is a template that uses one of the values. Other braces are text for the model."""
    return isinstance(value, str) and "{{" in value and any(key in value for key in (*values, "env."))
