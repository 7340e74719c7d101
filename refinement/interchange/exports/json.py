"""Exports a run as one JSON document. The format is described in docs/run-json.md."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

FORMAT = 1


def run_json(
    run: Mapping[str, Any],
    *,
    sources: Iterable[Mapping[str, Any]] = (),
    rounds: Iterable[Mapping[str, Any]],
    calls: Iterable[Mapping[str, Any]],
    events: Iterable[Mapping[str, Any]],
    human_scores: Iterable[Mapping[str, Any]] = (),
    decisions: Iterable[Mapping[str, Any]] = (),
    instructions: Iterable[Mapping[str, Any]] = (),
    feedback: Iterable[Mapping[str, Any]] = (),
) -> Iterator[str]:
    """The document's text in pieces. Only one list entry is in memory at a time."""
    yield f'{{\n"wiggum_run": {FORMAT},\n"run": {as_json(run)}'
    lists = {
        "sources": sources,
        "rounds": rounds,
        "calls": calls,
        "events": events,
        "human_scores": human_scores,
        "decisions": decisions,
        "instructions": instructions,
        "feedback": feedback,
    }
    for name, entries in lists.items():
        yield f',\n"{name}": ['
        between = "\n"
        for entry in entries:
            yield f"{between}{as_json(entry)}"
            between = ",\n"
        yield "\n]"
    yield "\n}\n"


def as_json(value: object) -> str:
    """One line of JSON with keys in order. Decimals become strings, so that they are not rounded."""
    # Some readers treat these separators as line ends.
    text = json.dumps(value, ensure_ascii=False, default=_plain, allow_nan=False)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085")


def _plain(value: object) -> str:
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} cannot be written to a run document")
