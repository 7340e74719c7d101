"""Writes values as YAML lines. The output is deterministic, so that diffs in git are meaningful."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import TypeAlias

Value: TypeAlias = object
INDENT = "  "
WIDTH = 100
LONGEST_KEY = 120  # longer keys are written after a question mark

# Text that YAML 1.1 readers do not read as text.
_TAKEN = re.compile(
    r"(?:null|true|false|yes|no|on|off|y|n|~|[-+]?\.(?:inf|nan)|\.nan)\Z|[-+.]?\d", re.IGNORECASE
)
_PLAIN = re.compile(r"[^\W_](?:[\w .,;!?()/%+'’–—…“”&=<>*-]|:(?! |\Z)|(?<! )#)*\Z")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*\Z")
_UNSAFE = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def entry(key: str, value: Value, depth: int = 0) -> Iterator[str]:
    """The lines of one key and its value."""
    pad, name = INDENT * depth, scalar(key)
    if len(name) > LONGEST_KEY:
        yield f"{pad}? {name}"
        name, after = "", ":"
    else:
        after = f"{name}:"
    yield from _after(f"{pad}{after}", value, depth)


def _after(head: str, value: Value, depth: int) -> Iterator[str]:
    """The value after its key or dash."""
    if isinstance(value, Mapping):
        yield head if value else f"{head} {{}}"
        for key, inner in value.items():
            yield from entry(key, inner, depth + 1)
    elif isinstance(value, (list, tuple)):
        yield from _sequence(head, value, depth)
    elif isinstance(value, str) and _wants_block(value):
        yield from _block(head, value, depth)
    else:
        yield f"{head} {scalar(value)}"


def _sequence(head: str, values: Iterable[Value], depth: int) -> Iterator[str]:
    entries = list(values)
    if all(isinstance(value, str) and _WORD.match(value) for value in entries):
        yield from _words(head, [scalar(value) for value in entries], depth)
        return
    yield head
    for value in entries:
        yield from _item(value, depth + 1)


def _item(value: Value, depth: int) -> Iterator[str]:
    """One entry of a list. The first key of a record follows the dash."""
    pad = INDENT * depth
    if isinstance(value, Mapping) and value:
        lines = (line for key, inner in value.items() for line in entry(key, inner, depth + 1))
        yield f"{pad}- {next(lines).lstrip(' ')}"
        yield from lines
    elif isinstance(value, (list, tuple)) and value:
        yield f"{pad}-"
        for inner in value:
            yield from _item(inner, depth + 1)
    elif isinstance(value, (list, tuple)):
        yield f"{pad}- []"
    else:
        yield from _after(f"{pad}-", value, depth)


def _words(head: str, words: list[str], depth: int) -> Iterator[str]:
    """A list of plain words, wrapped if it is long."""
    line = f"{head} [{', '.join(words)}]"
    if len(line) <= WIDTH:
        yield line
        return
    yield f"{head} ["
    pad = INDENT * (depth + 1)
    line = pad
    for word in words:
        if len(line) + len(word) > WIDTH:
            yield line.rstrip()
            line = pad
        line += f"{word}, "
    yield line.rstrip(" ,")
    yield f"{pad}]"


def scalar(value: Value) -> str:
    """A number, a boolean, null, or text on one line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value.normalize():f}" if value else "0"
    if isinstance(value, (int, float)):
        return json.dumps(value)
    text = str(value)
    return text if _PLAIN.match(text) and not _TAKEN.match(text) and text == text.strip() else quoted(text)


def quoted(text: str) -> str:
    """The text in double quotes, with special characters escaped."""
    return '"' + re.sub(r'["\\]|' + _UNSAFE.pattern + "|[\t\n]", _escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    if character in _ESCAPES:
        return _ESCAPES[character]
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _wants_block(text: str) -> bool:
    """Whether the text should be written as a block, and can be without escapes."""
    return ("\n" in text or len(text) > WIDTH) and bool(text.strip()) and not _UNSAFE.search(text)


def _block(head: str, text: str, depth: int) -> Iterator[str]:
    """The text as a block. The sign after the bar keeps its trailing newlines."""
    body = text.rstrip("\n")
    ending = len(text) - len(body)
    # The indentation must be given if the text starts with whitespace.
    width = str(len(INDENT)) if text[0] in " \t\n" else ""
    yield f"{head} |{width}{'-' if not ending else '' if ending == 1 else '+'}"
    pad = INDENT * (depth + 1)
    for line in body.split("\n"):
        yield f"{pad}{line}" if line else ""
    yield from [""] * (ending - 1)
