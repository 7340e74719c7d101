"""Encodes server-sent events."""

import json
from collections.abc import Mapping
from typing import Any

from refinement.selectors.runs.live.page import LiveState

OPENING = b"retry: 5000\n\n"
HEARTBEAT = b": still here\n\n"


def frame(kind: str, data: Mapping[str, Any], number: int | None = None) -> bytes:
    """One event. ASCII JSON has no line ends, so text cannot break out of its frame."""
    head = f"id: {number}\n" if number is not None else ""
    return f"{head}event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode("ascii")


def state_frame(state: LiveState) -> bytes:
    """The run's state, so that a page can update without another request."""
    return frame(
        "state",
        {
            "status": state.status,
            "words": state.words,
            "writer": state.writer,
            "rounds": state.rounds_words,
            "judged": state.rounds,
            "tokens": state.tokens_words,
            "calls": state.calls_words,
            "began": state.began_at and state.began_at.isoformat(),
            "next_try": state.next_try_at and state.next_try_at.isoformat(),
            "command_began": state.command_since and state.command_since.isoformat(),
        },
    )
