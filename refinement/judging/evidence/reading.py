"""Reads numbers and failures from an evaluator's output, without limits. Only for `isolation`'s child."""

import json
import re
from collections import deque
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from refinement.engine.evaluating import metric_number
from refinement.judging.checks.patterns import TIMEOUT_SECONDS, compiled, pattern_problems
from refinement.judging.checks.runaway import PROBE_CHARS, runs_away

FLAGS = "m"  # ^ and $ match at each line
ARRAY_INDEX = re.compile(r"0|[1-9]\d{0,8}")
DOCUMENT_START = re.compile(r"^[{\[]", re.MULTILINE)
BAD_ESCAPE = re.compile(r"~(?![01])")
NOTHING = object()


def failure_pattern(patterns: list[str], texts: list[str]) -> int | None:
    """The index of the first pattern that matches one of the texts. A pattern that is too slow does not."""
    for index, pattern in enumerate(patterns):
        if any(last_match(pattern, text) for text in texts):
            return index
    return None


def metric(pattern: str, pointer: str, stdout: str, stderr: str) -> Decimal | None:
    """The metric's number, or None if it cannot be found.

    A pattern is looked for in the standard output first, and in the error output if it is not there.
    """
    if pointer:
        return pointed_number(pointer, stdout)
    for text in (stdout, stderr):
        if match := last_match(pattern, text):
            return metric_number(str(match[1] or ""))
    return None


def last_match(pattern: str, text: str) -> Any:
    """The last match in the text; None if there is none, or if the search takes too long."""
    matches = compiled(pattern, FLAGS).finditer(text, timeout=TIMEOUT_SECONDS)
    try:
        last = deque(matches, maxlen=1)
    except TimeoutError:
        return None
    return last[0] if last else None


def pointed_number(pointer: str, text: str) -> Decimal | None:
    found = pointed(pointer, document(text))
    return metric_number(str(found)) if isinstance(found, Decimal) else None


def document(text: str) -> object:
    """The text as JSON, or the last JSON object or list in it that starts at the beginning of a line."""
    decoder = json.JSONDecoder(parse_int=Decimal, parse_float=Decimal, parse_constant=lambda name: name)
    try:
        return decoder.decode(text)
    except (ValueError, RecursionError):
        return last_document(decoder, text)


def last_document(decoder: json.JSONDecoder, text: str) -> object:
    last, position = NOTHING, 0
    while match := DOCUMENT_START.search(text, position):
        try:
            last, position = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            position = match.end()
    return last


def pointed(pointer: str, value: Any) -> object:
    """The value at the JSON pointer (RFC 6901), or NOTHING."""
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(name, NOTHING)
        elif isinstance(value, list) and ARRAY_INDEX.fullmatch(name) and int(name) < len(value):
            value = value[int(name)]
        else:
            return NOTHING
    return value


def problems(pattern: str, groups: int | None) -> Iterator[str]:
    """Why a pattern cannot be saved. `groups` is the number of groups that it must have."""
    found = pattern_problems("The pattern", pattern, FLAGS)
    yield from found
    if found:
        return
    if groups is not None and compiled(pattern, FLAGS).groups != groups:
        yield "The pattern needs exactly one group: (…) around the number. Write (?:…) for others."
    elif runs_away(pattern, FLAGS):
        yield (
            f"The pattern takes longer than {TIMEOUT_SECONDS:g} seconds on a text of {PROBE_CHARS:,} "
            "characters. Make it simpler: no repetition inside a repetition."
        )


def pointer_problems(pointer: str) -> list[str]:
    """Why the text is not a JSON pointer to a value inside a document; empty if it is."""
    if not pointer.startswith("/"):
        return ["A pointer starts with a slash, such as /results/0/accuracy."]
    if BAD_ESCAPE.search(pointer):
        return ["In a pointer, ~ is written ~0, and / inside a name ~1."]
    return []
