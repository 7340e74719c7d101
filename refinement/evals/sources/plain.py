"""Nodes as JSON data, and JSON data as text."""

import json
import re
from math import isfinite

from refinement.interchange.imports.fields import NOTHING
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node, Scalar

TRUE, FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")
_NUMBER = re.compile(r"[-+]?(?:\d{1,300}(?:\.\d{0,300})?|\.\d{1,300})(?:[eE][-+]?\d{1,3})?\Z", re.ASCII)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def data(node: Node | None) -> object:
    """The node as JSON data: unquoted numbers, true, false and null are what they look like."""
    if node is None:
        return None
    if isinstance(node, Items):
        return [data(entry) for entry in node.values]
    if isinstance(node, Fields):
        return {key: data(value) for key, value in node.values.items()}
    return scalar(node)


def scalar(node: Scalar) -> object:
    if not node.plain:
        return storable(node.text)
    if node.text in NOTHING:
        return None
    if node.text in TRUE or node.text in FALSE:
        return node.text in TRUE
    if not _NUMBER.match(node.text):
        return storable(node.text)
    if node.text.lstrip("-+").isdigit():
        return int(node.text)
    number = float(node.text)
    return number if isfinite(number) else node.text


def storable(text: str) -> str:
    """The text without characters that a database cannot store."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def text_of(value: object) -> str:
    """The value as JavaScript templates print it: objects as JSON, null as nothing."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, int | float):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def node_of(value: object, line: int) -> Node:
    """JSON data as a tree, all on one line."""
    if isinstance(value, dict):
        made = Fields(line)
        for key, inner in value.items():
            made.values[str(key)], made.lines[str(key)] = node_of(inner, line), line
        return made
    if isinstance(value, list):
        return Items(line, [node_of(inner, line) for inner in value])
    if isinstance(value, str):
        return Scalar(line, value, plain=False)
    return Scalar(line, "null" if value is None else text_of(value), plain=True)
