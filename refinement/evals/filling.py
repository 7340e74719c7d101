"""Values in the places that a prompt keeps for them: `{{ name }}`, in the sandbox of all templates."""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from refinement.interchange.imports.fields import Missing, Notes, is_nothing
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node, Scalar
from refinement.judging.templating import TemplateFailure, render

Value: TypeAlias = str | bool  # a number stays as it was written: 0.10 is not 0.1
Values: TypeAlias = Mapping[str, Value]
Fill: TypeAlias = Callable[[Notes, int, str], str]

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")
FILE = "file://"
FILE_BYTES = 1_000_000
MOST_COMBINATIONS = 1_000


def filler(values: Values) -> Fill:
    """Fills a text with these values; a name without a value is noted at its line."""

    def fill(notes: Notes, line: int, text: str) -> str:
        if "{{" not in text and "{%" not in text:
            return text
        try:
            return render("prompt", text, **values)
        except TemplateFailure as failure:
            known = ", ".join(values) or "none"
            notes.add(line, f"{failure} The vars here are: {known}.")
            return text

    return fill


def text_or_file(
    notes: Notes, node: Node, name: str, folder: Path, *, most: int = FILE_BYTES
) -> str | Missing:
    """A text, or what stands in the file that `file://PATH` names, seen from the eval's folder."""
    text = notes.text(node, name, most=most, needed=True)
    if isinstance(text, Missing) or not text.startswith(FILE):
        return text
    try:
        return file_text(folder / text.removeprefix(FILE))
    except Unreadable as problem:
        return notes.add(node.line, f"{name}: {problem}")


class Unreadable(ValueError):
    """Why a file cannot be used, as a sentence."""


def file_text(path: Path) -> str:
    """The text of a small file; Unreadable says why it cannot be used."""
    try:
        with path.open("rb") as stream:
            data = stream.read(FILE_BYTES + 1)
        text = data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except OSError as error:
        raise Unreadable(f"{path} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise Unreadable(f"{path} is not text in UTF-8.") from None
    if len(data) > FILE_BYTES:
        raise Unreadable(f"{path} is larger than {FILE_BYTES:,} bytes.")
    if not text.strip():
        raise Unreadable(f"{path} is empty.")
    return text


def read_vars(notes: Notes, node: Node | None, folder: Path) -> dict[str, list[Value]]:
    """Every var with its values: one, or those of a list, each of which makes a case of its own."""
    if node is None:
        return {}
    if not isinstance(node, Fields):
        notes.add(node.line, "vars must be names with values below it.")
        return {}
    found: dict[str, list[Value]] = {}
    for name, value in node.values.items():
        if not VARIABLE.fullmatch(name) or name == "self":
            notes.add(node.lines[name], f"{name!r} cannot be a var; use letters, digits and _.")
            continue
        entries = value.values if isinstance(value, Items) else [value]
        read = [_value(notes, entry, f"vars.{name}", folder) for entry in entries]
        found[name] = [entry for entry in read if not isinstance(entry, Missing)]
        if not entries:
            notes.add(node.lines[name], f"vars.{name} is an empty list; give it a value.")
    return found


def _value(notes: Notes, node: Node, name: str, folder: Path) -> Value | Missing:
    if not isinstance(node, Scalar):
        return notes.add(node.line, f"{name} must be a text, a number, true or false, or a list of those.")
    if is_nothing(node):
        return ""
    if node.plain and node.text in ("true", "false"):
        return node.text == "true"
    return text_or_file(notes, node, name, folder)


def combinations(notes: Notes, line: int, found: Mapping[str, list[Value]]) -> Iterator[dict[str, Value]]:
    """One set of values for each way to choose from the lists; one empty set where there are no vars."""
    count = 1
    for values in found.values():
        count *= len(values)
    if count > MOST_COMBINATIONS:
        notes.add(line, f"The lists in vars make {count:,} cases; {MOST_COMBINATIONS:,} are allowed.")
        return
    for chosen in itertools.product(*found.values()):
        yield dict(zip(found, chosen, strict=True))


def words_of(found: Mapping[str, list[Value]], chosen: Values) -> str:
    """What tells the cases of one test apart: the vars that have several values."""
    return ", ".join(f"{name}={chosen[name]}" for name, values in found.items() if len(values) > 1)[:120]
