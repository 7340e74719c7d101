"""The loopback server's replies: given texts, a function, or replies generated from the schema."""

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Answer:
    text: str
    thinking: str = ""
    prompt_tokens: int | None = None  # by default counted from the prompt
    finish_reason: str = ""


@dataclass(frozen=True)
class Asked:
    """A chat request in either protocol."""

    protocol: str  # ollama or openai
    role: str
    number: int  # of this role, from 1
    body: Mapping[str, Any]

    @property
    def schema(self) -> Mapping[str, Any] | None:
        if self.protocol == "ollama":
            given = self.body.get("format")
        else:
            given = (self.body.get("response_format") or {}).get("json_schema", {}).get("schema")
        return given if isinstance(given, dict) else None

    @property
    def prompt(self) -> str:
        return "\n".join(str(message.get("content") or "") for message in self.body.get("messages", ()))


Replies = Callable[[Asked], Answer | str | Awaitable[Answer | str]]


class OutOfReplies(Exception):
    """The test set fewer replies than there were requests."""


# The purpose of a request, by the first property of its schema.
PURPOSES = {"working": "merge", "judges": "compose", "change": "describe"}


def purpose_by_schema(body: Mapping[str, Any]) -> str:
    """score, deliberate, merge, compose or describe by the requested schema; write if there is none."""
    schema = body.get("format") or (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    if not isinstance(schema, Mapping):
        return "score" if body.get("format") or body.get("response_format") else "write"
    properties = schema.get("properties", {})
    if '"stance"' in json.dumps(properties.get("criteria", {})):
        return "deliberate"
    return PURPOSES.get(next(iter(properties), ""), "score")


def delayed(until: Callable[[Asked], bool], replies: Callable[[Asked], Answer | str]) -> Replies:
    """These replies, each as soon as `until` is true, so that a test decides which calls overlap."""

    async def reply(asked: Asked) -> Answer | str:
        while not until(asked):
            await asyncio.sleep(0.005)
        return replies(asked)

    return reply


def role_by_schema(body: Mapping[str, Any]) -> str:
    """The role that the request is for, by its schema."""
    purpose = purpose_by_schema(body)
    return {"write": "producer", "score": "judge", "deliberate": "judge"}.get(purpose, "clerk")


def from_lists(lists: Mapping[str, Sequence[Answer | str]], *, cycle: bool = False) -> Replies:
    """Request k of a role gets the k-th text of its list; without one, the clerk gets a valid reply."""

    def reply(asked: Asked) -> Answer | str:
        if asked.role == "clerk" and "clerk" not in lists:
            return json.dumps(instance(asked.schema or {}, None, 0.5))
        texts = lists.get(asked.role, ())
        if not texts or (asked.number > len(texts) and not cycle):
            raise OutOfReplies(f"no reply number {asked.number} for the {asked.role}")
        return texts[(asked.number - 1) % len(texts)]

    return reply


def from_file(path: Path, *, cycle: bool = True) -> Replies:
    """Lines of JSON with role and text."""
    lists: dict[str, list[Answer | str]] = {}
    for line in path.read_text("utf-8").splitlines():
        if line.strip():
            entry = json.loads(line)
            answer = Answer(entry["text"], thinking=entry.get("thinking", ""))
            lists.setdefault(entry["role"], []).append(answer)
    return from_lists(lists, cycle=cycle)


def valid_replies(score: float | None = None, producer_chars: int = 600) -> Replies:
    """Judges get a valid instance of their schema, by default with changing scores."""
    turns = itertools.count()

    def reply(asked: Asked) -> str:
        if asked.schema is None:
            sentence = f"Draft {asked.number} says something new in every sentence it has. "
            text = f"# Draft {asked.number}\n\n" + sentence * (producer_chars // len(sentence) + 1)
            return text[:producer_chars]
        share = next(turns) % 5 / 10 + 0.3
        return json.dumps(instance(asked.schema, score, share))

    return reply


def instance(schema: Mapping[str, Any], score: float | None, share: float) -> Any:
    """The smallest valid value of the schema; numbers are at `share` of their range, or `score`."""
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][int(share * (len(schema["enum"]) - 1))]
    if "anyOf" in schema:
        return instance(schema["anyOf"][0], score, share)
    return _typed(schema, score, share)


def _typed(schema: Mapping[str, Any], score: float | None, share: float) -> Any:
    kind = schema.get("type")
    if kind == "object":
        fields = schema.get("properties", {})
        return {name: instance(part, score, share) for name, part in fields.items()}
    if kind == "array":
        items = [
            instance(schema["items"], score, share) for _ in range(max(1, int(schema.get("minItems", 0))))
        ]
        return [named(item, number) for number, item in enumerate(items, start=1)]
    if kind in ("number", "integer"):
        low, high = float(schema.get("minimum", 0)), float(schema.get("maximum", 10))
        value = score if score is not None else low + (high - low) * share
        return round(value) if kind == "integer" else round(value, 2)
    if kind == "boolean":
        return True
    return "It says what it means."[: int(schema.get("maxLength", 100))]


def named(item: Any, number: int) -> Any:
    """An entry of a list, with a unique name if it has one."""
    return {**item, "name": f"Judge {number}"} if isinstance(item, dict) and "name" in item else item
