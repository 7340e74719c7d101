"""Reads prompts that consist of messages with roles, and content that consists of parts."""

import json
from collections.abc import Mapping

from refinement.evals.dialects.reader import Reader
from refinement.evals.sources.plain import text_of
from refinement.evals.types import Dialect, Message
from refinement.interchange.imports.fields import brief

ROLES = {"system": "system", "developer": "system", "user": "user", "human": "user", "assistant": "assistant"}
ROLES |= {"model": "assistant", "ai": "assistant"}
TEXT_TYPES = ("text", "input_text", "output_text")
FILE_TYPES = ("file", "input_file")
PART_TEXTS = ("text", "value", "content")


def is_messages(value: object) -> bool:
    """Whether this is a list of messages with roles."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(entry, Mapping) and "role" in entry for entry in value)
    )


class MessageReader:
    """Reads messages whose variables are filled in."""

    def __init__(self, reader: Reader) -> None:
        self.reader, self.log = reader, reader.log

    def read(self, value: object, line: int, name: str) -> tuple[Message, ...]:
        """Messages from a list, one message, a text, or structured data, which becomes JSON."""
        if is_messages(value):
            assert isinstance(value, list)
            made = [self.message(entry, line, name) for entry in value]
            return tuple(message for message in made if message is not None)
        if isinstance(value, Mapping) and "role" in value:
            return self.read([value], line, name)
        if isinstance(value, list) and value and all(is_part(part) for part in value):
            return (Message("user", self.content(value, line, name)),)
        return (Message("user", text_of(value)),)

    def message(self, entry: Mapping[str, object], line: int, name: str) -> Message | None:
        role = ROLES.get(str(entry["role"]).lower())
        if role is None:
            if str(entry["role"]) in ("tool", "function"):
                self.log.add(line, f"{name}: messages of tools are not supported.")
            else:
                self.log.add(
                    line, f"{name}: {brief(str(entry['role']))} is not a role; use system, user or assistant."
                )
            return None
        if "content" not in entry and ("tool_calls" in entry or "function_call" in entry):
            self.log.add(line, f"{name}: messages with tool calls are not supported.")
            return None
        return Message(role, self.content(entry.get("content"), line, name))

    def content(self, content: object, line: int, name: str) -> str:
        """The text of a content: a text, parts, or structured data as JSON."""
        if isinstance(content, list) and content and all(is_part(part) for part in content):
            parts = (self.part(part, line, name) for part in content)
            return "\n\n".join(text for text in parts if text is not None)
        if isinstance(content, Mapping) and is_part(content):
            return self.part(content, line, name) or ""
        if isinstance(content, Mapping | list):
            return json.dumps(content, ensure_ascii=False, indent=2)
        return text_of(content)

    def part(self, part: object, line: int, name: str) -> str | None:
        if isinstance(part, str):
            return part
        assert isinstance(part, Mapping)
        kind = str(part.get("type", "text"))
        if kind in FILE_TYPES and self.reader.dialect == Dialect.AGENTV and isinstance(self.text(part), str):
            wanted = str(self.text(part)).removeprefix("file://")
            read = self.reader.text(wanted, line, name, code=True)
            return read[1] if isinstance(read, tuple) else None
        if kind in TEXT_TYPES:
            return text_of(self.text(part))
        source = part.get("source")
        if kind == "document" and isinstance(source, Mapping) and source.get("type") == "text":
            return text_of(source.get("data"))
        what = "images" if "image" in kind else f"content of type {brief(kind)}"
        self.log.add(line, f"{name}: {what} cannot be sent; only text can.")
        return None

    def text(self, part: Mapping[str, object]) -> object:
        return next((part[key] for key in PART_TEXTS if key in part), part.get("path"))


def is_part(part: object) -> bool:
    return isinstance(part, str) or (isinstance(part, Mapping) and isinstance(part.get("type"), str))


def as_text(messages: tuple[Message, ...]) -> str:
    """Messages as one text, for targets that take only one. A single user message is just its text."""
    if sum(message.role == "assistant" for message in messages) == 0:
        ordered = sorted(messages, key=lambda message: message.role != "system")
        return "\n\n".join(message.content.strip() for message in ordered if message.content.strip())
    labels = {"system": "System", "user": "User", "assistant": "Assistant"}
    parts = [f"{labels[message.role]}: {message.content.strip()}" for message in messages]
    return "\n\n".join(parts)
