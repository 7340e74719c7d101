"""Fills variables such as `{{ name }}` in prompts, in the template sandbox."""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from refinement.interchange.imports.fields import Missing, Notes, is_nothing
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node, Scalar
from refinement.judging.templating import TemplateFailure, render

Value: TypeAlias = str | bool  # numbers stay text: 0.10 is not 0.1
Values: TypeAlias = Mapping[str, Value]
Fill: TypeAlias = Callable[[Notes, int, str], str]

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")
FILE = "file://"
FILE_BYTES = 1_000_000
MOST_COMBINATIONS = 1_000


def filler(values: Values) -> Fill:
    """A function that fills a text with these values. Unknown names are reported with their line."""

    def fill(notes: Notes, line: int, text: str) -> str:
        if "{{" not in text and "{%" not in text:
            return text
        try:
            return render("prompt", text, **values)
        except TemplateFailure as failure:
            known = ", ".join(values) or "none"
            notes.add(line, f"{failure} Available vars: {known}.")
            return text

    return fill


def text_or_file(
    notes: Notes, node: Node, name: str, folder: Path, *, most: int = FILE_BYTES
) -> str | Missing:
    """A text, or the content of the file in `file://PATH`, relative to the eval's folder."""
    text = notes.text(node, name, most=most, needed=True)
    if isinstance(text, Missing) or not text.startswith(FILE):
        return text
    try:
        return file_text(folder / text.removeprefix(FILE))
    except Unreadable as problem:
        return notes.add(node.line, f"{name}: {problem}")


class Unreadable(ValueError):
    """A file cannot be used. The message is a sentence."""


def file_text(path: Path) -> str:
    """The text of a small file. Raises Unreadable."""
    try:
        with path.open("rb") as stream:
            data = stream.read(FILE_BYTES + 1)
        text = data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except OSError as error:
        raise Unreadable(f"{path} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise Unreadable(f"{path} is not UTF-8 text.") from None
    if len(data) > FILE_BYTES:
        raise Unreadable(f"{path} is larger than {FILE_BYTES:,} bytes.")
    if not text.strip():
        raise Unreadable(f"{path} is empty.")
    return text


def read_vars(notes: Notes, node: Node | None, folder: Path) -> dict[str, list[Value]]:
    """Every var with its values. Each value of a list makes a separate case."""
    if node is None:
        return {}
    if not isinstance(node, Fields):
        notes.add(node.line, "vars must be names with values below it.")
        return {}
    variables: dict[str, list[Value]] = {}
    for name, value in node.values.items():
        if not VARIABLE.fullmatch(name) or name == "self":
            notes.add(node.lines[name], f"{name!r} cannot be a var; use letters, digits and _.")
            continue
        entries = value.values if isinstance(value, Items) else [value]
        read = [_value(notes, entry, f"vars.{name}", folder) for entry in entries]
        variables[name] = [entry for entry in read if not isinstance(entry, Missing)]
        if not entries:
            notes.add(node.lines[name], f"vars.{name} must not be empty.")
    return variables


def _value(notes: Notes, node: Node, name: str, folder: Path) -> Value | Missing:
    if not isinstance(node, Scalar):
        return notes.add(node.line, f"{name} must be a text, a number, true or false, or a list of those.")
    if is_nothing(node):
        return ""
    if node.plain and node.text in ("true", "false"):
        return node.text == "true"
    return text_or_file(notes, node, name, folder)


def combinations(notes: Notes, line: int, variables: Mapping[str, list[Value]]) -> Iterator[dict[str, Value]]:
    """Every combination of the values; one empty set if there are no vars."""
    count = 1
    for values in variables.values():
        count *= len(values)
    if count > MOST_COMBINATIONS:
        notes.add(line, f"The lists in vars make {count:,} cases; the limit is {MOST_COMBINATIONS:,}.")
        return
    for chosen in itertools.product(*variables.values()):
        yield dict(zip(variables, chosen, strict=True))


def label_of(variables: Mapping[str, list[Value]], chosen: Values) -> str:
    """A label for a case of a test: the vars with several values."""
    return ", ".join(f"{name}={chosen[name]}" for name, values in variables.items() if len(values) > 1)[:120]
