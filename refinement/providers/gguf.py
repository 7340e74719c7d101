"""Reads metadata from the header of a GGUF file."""

import struct
from pathlib import Path
from typing import BinaryIO

MAGIC = b"GGUF"
STRING, ARRAY = 8, 9
# The struct codes of the file format's scalar types.
PLAIN = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
LONGEST_TEXT = 1 << 20
MOST_ENTRIES = 10_000


def context_length(path: Path) -> int | None:
    """The model's context length; None if the file does not have it or is not a GGUF file."""
    try:
        with path.open("rb") as stream:
            return _context_length(stream)
    except (OSError, ValueError, struct.error):
        return None


def _context_length(stream: BinaryIO) -> int | None:
    if stream.read(4) != MAGIC:
        return None
    _, _, entries = struct.unpack("<IQQ", stream.read(20))
    for _ in range(min(entries, MOST_ENTRIES)):
        name = _text(stream)
        value = _value(stream, _number(stream, "I"))
        if name.endswith(b".context_length") and isinstance(value, int):
            return value
    return None


def _number(stream: BinaryIO, code: str) -> int:
    value: int = struct.unpack("<" + code, stream.read(struct.calcsize("<" + code)))[0]
    return value


def _text(stream: BinaryIO) -> bytes:
    length = _number(stream, "Q")
    if length > LONGEST_TEXT:
        raise ValueError("a string in the file's header is too long")
    return stream.read(length)


def _value(stream: BinaryIO, kind: int) -> object:
    if kind == STRING:
        return _text(stream)
    if kind == ARRAY:
        inner, count = _number(stream, "I"), _number(stream, "Q")
        if inner in PLAIN:
            stream.seek(struct.calcsize("<" + PLAIN[inner]) * count, 1)
        else:
            for _ in range(count):
                _value(stream, inner)
        return None
    if kind not in PLAIN:
        raise ValueError(f"unknown type {kind}")
    return _number(stream, PLAIN[kind])
