"""Reads records from a YAML tree: which keys there are, and how each value is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

from refinement.interchange.imports.fields import MISSING, Missing, Notes, as_json, has_unstorable, is_nothing
from refinement.interchange.rubrics.yaml_reading import Fields, Node

LINE_CHARS = 160
MOST_ENTRIES = 500

Made = TypeVar("Made")
Reader: TypeAlias = Callable[[Notes, Node, str], object]


@dataclass(frozen=True, slots=True)
class Key:
    """How to read a key's value. An `optional` value may be null."""

    read: Reader
    needed: bool = False
    optional: bool = False


def text(most: int, *, needed: bool = False) -> Reader:
    return lambda notes, node, name: notes.text(node, name, most=most, needed=needed)


def number(*, places: int = 15, digits: int = 9) -> Reader:
    return lambda notes, node, name: notes.number(node, name, places=places, digits=digits)


def whole(least: int, most: int) -> Reader:
    return lambda notes, node, name: notes.whole(node, name, least=least, most=most)


def choice(kinds: Any) -> Reader:
    return lambda notes, node, name: notes.choice(node, name, kinds)


def flag(notes: Notes, node: Node, name: str) -> object:
    return notes.flag(node, name)


def short_texts(notes: Notes, node: Node, name: str) -> object:
    """A list of short texts."""
    found = notes.each(node, name, partial(notes.text, most=LINE_CHARS, needed=True))
    return found if isinstance(found, Missing) else tuple(found)


def record(made: Callable[..., object], keys: Mapping[str, Key]) -> Reader:
    return lambda notes, node, name: read_record(notes, node, name, keys, made)


def read_record(
    notes: Notes, node: Node, name: str, keys: Mapping[str, Key], made: Callable[..., Made]
) -> Made | Missing:
    """An object built from the keys; MISSING if a value could not be read."""
    fields = notes.record(node, name, {key: spec.needed for key, spec in keys.items()})
    if isinstance(fields, Missing):
        return fields
    values: dict[str, object] = {}
    for key, spec in keys.items():
        if key not in fields.values:
            continue
        value_node = fields.values[key]
        empty = spec.optional and is_nothing(value_node)
        values[key] = None if empty else spec.read(notes, value_node, f"{key} in {name}")
    if any(isinstance(value, Missing) for value in values.values()):
        return MISSING
    if any(spec.needed and key not in values for key, spec in keys.items()):
        return MISSING
    try:
        return made(**values)
    except ValueError as error:
        return notes.add(node.line, f"{name}: {error}.")


def parameters(notes: Notes, node: Node, name: str) -> object:
    if is_nothing(node):
        return {}
    if not isinstance(node, Fields):
        return notes.add(node.line, f"{name} must be keys with values below it.")
    value = as_json(node)
    return notes.add(node.line, f"{name} cannot be stored.") if has_unstorable(value) else value


def entries(read: Callable[[Notes, Node, str], Any]) -> Reader:
    def read_all(notes: Notes, node: Node, name: str) -> object:
        found = notes.each(node, name, partial(read, notes))
        if isinstance(found, Missing):
            return found
        if len(found) > MOST_ENTRIES:
            return notes.add(node.line, f"{name} has {len(found):,} entries; {MOST_ENTRIES} are allowed.")
        return tuple(found)

    return read_all
