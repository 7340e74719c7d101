"""Reads JSON and JSON lines as trees with line numbers."""

import json
import json.decoder
import re
from typing import Any

from refinement.interchange.rubrics.yaml_reading import (
    MAX_DEPTH,
    MAX_NODES,
    BadFile,
    Fields,
    Items,
    Node,
    Problem,
    Scalar,
)

SCAN: Any = vars(json.decoder)["scanstring"]
SPACE = re.compile(r"[ \t\n\r]*")
PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")
MOST_NODES = 20 * MAX_NODES  # data sets are longer than files that people write


def json_tree(text: str, first_line: int = 1) -> Node:
    """The value. Raises BadFile with the line of the first error."""
    reader = _Reader(text, first_line)
    try:
        node, end = reader.value(reader.skip(0), 0)
    except json.JSONDecodeError as error:
        raise reader.bad(error.pos, error.msg) from None
    if reader.skip(end) != len(text):
        raise reader.bad(end, "unexpected text after the value")
    return node


def json_lines(text: str) -> Items:
    """One value per line; empty lines are skipped. Raises BadFile with all lines that are wrong."""
    made, problems = Items(1), []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            made.values.append(json_tree(line, number))
        except BadFile as bad:
            problems += bad.problems
    if problems:
        raise BadFile(problems)
    return made


class _Reader:
    def __init__(self, text: str, first_line: int) -> None:
        self.text, self.first_line = text, first_line
        self.nodes = 0
        self._seen_until, self._line = 0, first_line

    def line(self, position: int) -> int:
        """Positions are asked for in ascending order, so that each part of the text is counted once."""
        if position < self._seen_until:
            return self.first_line + self.text.count("\n", 0, position)
        self._line += self.text.count("\n", self._seen_until, position)
        self._seen_until = position
        return self._line

    def bad(self, position: int, message: str) -> BadFile:
        return BadFile([Problem(self.line(position), f"This is not valid JSON: {message}.")])

    def skip(self, position: int) -> int:
        match = SPACE.match(self.text, position)
        assert match is not None
        return match.end()

    def value(self, position: int, depth: int) -> tuple[Node, int]:
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MOST_NODES:
            problem = "nested too deeply" if depth > MAX_DEPTH else "too long"
            raise BadFile([Problem(self.line(position), f"The file is {problem}.")])
        line, opening = self.line(position), self.text[position : position + 1]
        if opening == '"':
            content, end = self.string(position)
            return Scalar(line, content, plain=False), end
        if opening == "[":
            return self.items(Items(line), position + 1, depth)
        if opening == "{":
            return self.fields(Fields(line), position + 1, depth)
        match = PLAIN.match(self.text, position)
        if match is None:
            raise self.bad(position, "a value is missing or misspelt")
        return Scalar(line, match[0], plain=True), match.end()

    def string(self, position: int) -> tuple[str, int]:
        read: Any = SCAN(self.text, position + 1, True)
        return str(read[0]), int(read[1])

    def items(self, made: Items, position: int, depth: int) -> tuple[Node, int]:
        position = self.skip(position)
        if self.text[position : position + 1] == "]":
            return made, position + 1
        while True:
            node, position = self.value(self.skip(position), depth + 1)
            made.values.append(node)
            position, ended = self.separator(position, "]")
            if ended:
                return made, position

    def fields(self, made: Fields, position: int, depth: int) -> tuple[Node, int]:
        position = self.skip(position)
        if self.text[position : position + 1] == "}":
            return made, position + 1
        while True:
            position = self.skip(position)
            if self.text[position : position + 1] != '"':
                raise self.bad(position, "a key in double quotes is missing")
            line = self.line(position)
            key, position = self.string(position)
            position = self.skip(position)
            if self.text[position : position + 1] != ":":
                raise self.bad(position, "a colon is missing")
            made.values[key], position = self.value(self.skip(position + 1), depth + 1)
            made.lines[key] = line
            position, ended = self.separator(position, "}")
            if ended:
                return made, position

    def separator(self, position: int, closing: str) -> tuple[int, bool]:
        position = self.skip(position)
        mark = self.text[position : position + 1]
        if mark not in (",", closing) or not mark:
            raise self.bad(position, f"a comma or {closing} is missing")
        return position + 1, mark == closing
