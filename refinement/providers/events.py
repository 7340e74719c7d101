"""Reads OpenAI chat completions: a stream of events, or one object if the server does not stream."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

MILLISECONDS = 1e-3


class ErrorInStream(Exception):
    """The server reported an error after its reply had begun."""


class Unreadable(Exception):
    """The response is not a chat completion; `text` is the invalid part."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@dataclass(slots=True)
class StreamedReply:
    """The parts of a reply received so far; `on_text` is called with each piece of text."""

    on_text: Callable[[str], None]
    pieces: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    finish_reason: str = ""
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int | None = None
    timings: dict[str, float] = field(default_factory=dict)
    complete: bool = False

    def take(self, event: dict[str, Any]) -> None:
        """Adds one event of a stream, or a whole completion."""
        if event.get("error"):
            raise ErrorInStream(json.dumps(event))
        self.model = event.get("model") or self.model
        for choice in event.get("choices") or ():
            self._take_delta(choice.get("delta") or choice.get("message") or {})
            if choice.get("finish_reason"):
                self.finish_reason = choice["finish_reason"]
                self.complete = True
        if event.get("usage"):
            self._take_usage(event["usage"])
        if event.get("timings"):
            self._take_timings(event["timings"])

    def _take_delta(self, delta: dict[str, Any]) -> None:
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str):
            self.thoughts.append(thought)
        if delta.get("refusal"):
            self.refusals.append(delta["refusal"])
        piece = delta.get("content")
        if piece:
            self.pieces.append(piece)
            self.on_text(piece)

    def _take_usage(self, usage: dict[str, Any]) -> None:
        self.prompt_tokens = usage.get("prompt_tokens") or 0
        self.completion_tokens = usage.get("completion_tokens") or 0
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
        if cached is not None:
            self.cached_tokens = cached

    def _take_timings(self, timings: dict[str, Any]) -> None:
        """Reads llama.cpp's timings."""
        names = {"prompt": "prompt_ms", "generate": "predicted_ms"}
        self.timings = {
            name: timings[theirs] * MILLISECONDS for name, theirs in names.items() if theirs in timings
        }
        if self.cached_tokens is None and "cache_n" in timings:
            self.cached_tokens = timings["cache_n"]


def lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a stream without line ends; the last line may lack one."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
    if rest:
        yield rest


def read_stream(chunks: Iterable[bytes], streamed: StreamedReply) -> None:
    """Reads the stream to its end into `streamed`; raises Unreadable or ErrorInStream."""
    unknown: list[bytes] = []
    for line in lines(chunks):
        name, _, value = line.partition(b":")
        value = value.strip()
        if name in (b"data", b"error"):
            if value == b"[DONE]":
                streamed.complete = True
                continue
            streamed.take(_parsed(value, wrap=name == b"error"))
        elif line.strip() and name not in (b"", b"event", b"id", b"retry"):
            unknown.append(line)
    if unknown:
        streamed.take(_parsed(b"\n".join(unknown), wrap=False))


def _parsed(value: bytes, *, wrap: bool) -> dict[str, Any]:
    try:
        event = json.loads(value)
    except ValueError:
        raise Unreadable(value.decode("utf-8", "replace")) from None
    if not isinstance(event, dict):
        raise Unreadable(value.decode("utf-8", "replace"))
    return {"error": event} if wrap else event
